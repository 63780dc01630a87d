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
    /// Connections that are turned away and told so.
    var lingering = 0
  }

  private let maximum: Int
  private let maximumPerAddress: Int
  private let maximumLingering: Int
  private let state = Mutex(State())

  /// A ledger without connections.
  /// - Parameter maximum: connections at once.
  /// - Parameter maximumPerAddress: connections at once from one address.
  /// - Parameter maximumLingering: connections beyond those that are told at once that there are too many: each
  ///   takes a descriptor meanwhile.
  package init(
    maximum: Int = RequestLimits.connections,
    maximumPerAddress: Int = RequestLimits.connectionsPerAddress, maximumLingering: Int = 32
  ) {
    self.maximum = maximum
    self.maximumLingering = maximumLingering
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

  /// Counts a connection that is turned away, if there is room to tell it so.
  /// - Returns: whether it may be told; then ``endLingering()`` has to follow.
  func beginLingering() -> Bool {
    state.withLock { state in
      guard state.lingering < maximumLingering else { return false }
      state.lingering += 1
      return true
    }
  }

  /// Takes a connection that was told out again.
  func endLingering() { state.withLock { $0.lingering -= 1 } }

  /// Takes a connection that was counted out again.
  func leave(_ address: ClientAddress?) {
    state.withLock { state in
      state.counts.open -= 1
      guard let address, let count = state.byAddress[address] else { return }
      state.byAddress[address] = count > 1 ? count - 1 : nil
    }
  }
}
