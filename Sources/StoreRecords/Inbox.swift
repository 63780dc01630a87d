import NIOConcurrencyHelpers

/// Writes that wait to share a commit, in the order they came.
package final class Inbox<Write: Sendable>: Sendable {
  private let waiting = NIOLockedValueBox<[Write]>([])
  private let limit: Int

  /// An empty inbox that takes so many writes at once.
  package init(limit: Int) {
    self.limit = limit
  }

  /// Puts a write in the line.
  /// - Returns: false when the line is full.
  package func append(_ write: Write) -> Bool {
    waiting.withLockedValue { waiting in
      guard waiting.count < limit else { return false }
      waiting.append(write)
      return true
    }
  }

  /// Puts writes back that were taken and are not done, before all others.
  package func putBack(_ writes: ArraySlice<Write>) {
    guard !writes.isEmpty else { return }
    waiting.withLockedValue { $0 = writes + $0 }
  }

  /// Whether nothing waits.
  package var isEmpty: Bool { waiting.withLockedValue { $0.isEmpty } }

  /// Takes the first writes out of the line.
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
