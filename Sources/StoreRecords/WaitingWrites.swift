import NIOConcurrencyHelpers

/// A queue of writes that wait for a shared commit, in the order of arrival.
package final class WaitingWrites<Write: Sendable>: Sendable {
  private let waiting = NIOLockedValueBox<[Write]>([])
  private let limit: Int

  /// Creates an empty queue with a maximum length.
  package init(limit: Int) {
    self.limit = limit
  }

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
