import Accounts
import Synchronization

/// Counts the connections that are open, all of them and by the address that they come from.
package final class ConnectionLedger: Sendable {
  /// What is counted.
  package struct Counts: Sendable, Equatable {
    /// Connections that are open.
    package var open = 0
    /// Connections that were turned away since the start.
    package var refused = 0
  }

  private struct State {
    var counts = Counts()
    var byAddress: [ClientAddress: Int] = [:]
  }

  private let maximum: Int
  private let maximumPerAddress: Int
  private let state = Mutex(State())

  /// A ledger without connections.
  /// - Parameter maximum: connections at once.
  /// - Parameter maximumPerAddress: connections at once from one address.
  package init(
    maximum: Int = RequestLimits.connections,
    maximumPerAddress: Int = RequestLimits.connectionsPerAddress
  ) {
    self.maximum = maximum
    self.maximumPerAddress = maximumPerAddress
  }

  /// How many there are and were refused.
  package var counts: Counts { state.withLock { $0.counts } }

  /// Counts a connection if there is room for it.
  /// - Parameter address: where it comes from; nil for one that counts for no address, as a proxy's.
  /// - Returns: whether it may stay; then ``leave(_:)`` has to follow.
  func enter(_ address: ClientAddress?) -> Bool {
    state.withLock { state in
      let fromThere = address.map { state.byAddress[$0] ?? 0 } ?? 0
      guard state.counts.open < maximum, address == nil || fromThere < maximumPerAddress else {
        state.counts.refused += 1
        return false
      }
      state.counts.open += 1
      if let address { state.byAddress[address] = fromThere + 1 }
      return true
    }
  }

  /// Takes a connection that was counted out again.
  func leave(_ address: ClientAddress?) {
    state.withLock { state in
      state.counts.open -= 1
      guard let address, let count = state.byAddress[address] else { return }
      state.byAddress[address] = count > 1 ? count - 1 : nil
    }
  }
}
