import NIOConcurrencyHelpers

/// Tells the readers of one store that something was committed, and nothing more: a wake-up carries
/// no payload and is coalesced, so that a slow reader costs one slot and loses no change (it
/// re-reads by sequence number).
package final class ChangeFeed: Sendable {
  private let readers = NIOLockedValueBox<Readers>(Readers())

  private struct Readers {
    var next: UInt64 = 0
    var open: [UInt64: AsyncStream<Void>.Continuation] = [:]
    var isFinished = false
  }

  /// A feed without readers.
  package init() {}

  /// Wakes every reader that is not awake already.
  package func wake() {
    // Outside the lock: to wake a task takes the task's own lock, which whoever cancels it holds while this
    // stream's end takes ours.
    let open = readers.withLockedValue { Array($0.open.values) }
    for continuation in open { continuation.yield() }
  }

  /// A stream of wake-ups; the first is there at once, so that a reader begins by reading.
  package func wakeUps() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let key: UInt64? = readers.withLockedValue { readers in
      guard !readers.isFinished else { return nil }
      readers.next += 1
      readers.open[readers.next] = continuation
      return readers.next
    }
    guard let key else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.readers.withLockedValue { readers in _ = readers.open.removeValue(forKey: key) }
    }
    continuation.yield()
    return stream
  }

  /// How many readers there are.
  package var readerCount: Int { readers.withLockedValue { $0.open.count } }

  /// Ends every reader's stream: the store is erased or the service stops.
  package func finish() {
    let open = readers.withLockedValue { readers in
      readers.isFinished = true
      defer { readers.open = [:] }
      return readers.open
    }
    for continuation in open.values { continuation.finish() }
  }
}
