import NIOConcurrencyHelpers
import Scheduling

/// A queue of writes that wait for a shared commit, in the order of arrival.
package final class WaitingWrites<Write: Sendable>: Sendable {
  private let waiting = NIOLockedValueBox<[Write]>([])
  private let limit: Int

  /// Creates an empty queue with a maximum length.
  package init(limit: Int) { self.limit = limit }

  /// Adds a write to the end of the queue.
  /// - Returns: false when the queue is full.
  package func append(_ write: Write) -> Bool {
    waiting.withLockedValue { waiting in
      guard waiting.count < limit else { return false }
      waiting.append(write)
      return true
    }
  }

  /// Puts unfinished writes back at the head of the queue.
  package func putBack(_ writes: ArraySlice<Write>) {
    guard !writes.isEmpty else { return }
    waiting.withLockedValue { $0 = writes + $0 }
  }

  package var isEmpty: Bool { waiting.withLockedValue { $0.isEmpty } }

  package var all: [Write] { waiting.withLockedValue { $0 } }

  /// Removes the first writes from the queue and returns them.
  package func take(atMost count: Int) -> [Write] {
    waiting.withLockedValue { waiting in
      guard waiting.count > count else {
        defer { waiting = [] }
        return waiting
      }
      let taken = Array(waiting.prefix(count))
      waiting.removeFirst(taken.count)
      return taken
    }
  }
}

extension WaitingWrites<any PendingUpdate> {
  /// Adds an update to the end of the queue. If the queue is full, the address with most updates in it loses its last one,
  /// as long as it has more than the newcomer's: one address can't keep others out of a store that all write to.
  /// - Throws: `overloaded`; the update that loses its place fails with the same.
  package func add(_ update: any PendingUpdate) throws {
    let displaced: (any PendingUpdate)? = try waiting.withLockedValue { waiting in
      guard waiting.count >= limit else {
        waiting.append(update)
        return nil
      }
      let addresses = waiting.map(\.address)
      let counts: [ObjectIdentifier?: Int] = addresses.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      guard let most = counts.filter({ $0.key != nil }).max(by: { $0.value < $1.value }),
        most.value > counts[update.address, default: 0] + 1,
        let last = addresses.lastIndex(of: most.key)
      else { throw Self.full }
      defer { waiting.append(update) }
      return waiting.remove(at: last)
    }
    displaced?.finish(.failure(Self.full))
  }

  private static var full: ServiceError {
    ServiceError(.overloaded, "Too many changes of this database wait; try again soon")
  }
}

extension PendingUpdate {
  /// The address that pays for the update; nil for the server's own.
  fileprivate var address: ObjectIdentifier? {
    work.map { ObjectIdentifier($0.account.parent ?? $0.account) }
  }
}
