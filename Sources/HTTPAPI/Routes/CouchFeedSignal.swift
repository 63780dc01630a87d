import Synchronization

/// Wakes the one who writes an answer of `_changes`: for a change, at a moment, or for the end. Changes are
/// coalesced, so that a slow client costs nothing but its own place.
final class CouchFeedSignal: Sendable {
  /// Why the writer is woken.
  enum Wake: Sendable, Equatable {
    /// Something was committed since the last such wake-up.
    case change
    /// The moment that the writer named has come.
    case due
    /// The answer is to end.
    case end
  }

  /// Why an answer ends before it is complete.
  enum End: Sendable {
    /// The client has closed the connection.
    case clientLeft
    /// The reader may read the store no longer.
    case notAllowed
    /// The store is gone.
    case erased
    /// The server stops.
    case stopping
  }

  /// How long one write to a client may take; one that reads more slowly is cut off: 60 seconds for
  /// ``CouchChangesStream/chunkBytes``.
  static let patience = Duration.seconds(RequestLimits.idleSeconds)
  /// How long a client that does not read may hold up the end of its answer.
  static let grace = Duration.seconds(1)

  /// Who reads.
  let reader: CouchFeedReader
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  private struct State {
    /// The first page was read before anybody could tell of commits.
    var hasChanged = true
    var end: End?
    var endMoment: ContinuousClock.Instant?
    var due: ContinuousClock.Instant?
    var writeMoment: ContinuousClock.Instant?

    /// Whether a write has taken too long.
    func isStuck(_ now: ContinuousClock.Instant) -> Bool {
      guard let writeMoment else { return false }
      if let endMoment { return now - endMoment >= grace }
      return now - writeMoment >= patience
    }
  }

  /// A signal that nobody has given.
  init(_ reader: CouchFeedReader) {
    self.reader = reader
    (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Something was committed.
  func change() {
    state.withLock { $0.hasChanged = true }
    continuation.yield()
  }

  /// The answer is to end; the first reason counts.
  func end(_ reason: End) {
    state.withLock { state in
      guard state.end == nil else { return }
      state.end = reason
      state.endMoment = .now
    }
    continuation.finish()
  }

  /// Why the answer is to end; nil while it may go on.
  var end: End? { state.withLock(\.end) }

  /// Time has passed: wakes the writer if its moment has come, and hangs up on a client that does not read.
  func tick(_ now: ContinuousClock.Instant) {
    let (isDue, isStuck) = state.withLock { state in
      let isDue = state.due.map { $0 <= now } ?? false
      if isDue { state.due = nil }
      return (isDue, state.isStuck(now))
    }
    if isStuck { reader.hangUp() }
    if isDue { continuation.yield() }
  }

  /// Waits.
  /// - Parameter due: the moment to be woken at; nil for none.
  func next(by due: ContinuousClock.Instant?) async -> Wake {
    var signals = stream.makeAsyncIterator()
    while true {
      let wake: Wake? = state.withLock { state in
        if state.end != nil { return .end }
        if let due, due <= .now { return .due }
        if state.hasChanged {
          state.hasChanged = false
          return .change
        }
        state.due = due
        return nil
      }
      if let wake { return wake }
      if await signals.next() == nil { return .end }
    }
  }

  /// A write to the client begins.
  func beginWrite() { state.withLock { $0.writeMoment = .now } }

  /// The write is done.
  func endWrite() { state.withLock { $0.writeMoment = nil } }
}
