import HTTPTypes
import HummingbirdCore
import Lanes
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// The requests of one HTTP/1 connection, for the task that answers them one after the other. It has the role of
/// `NIOAsyncChannel` in Hummingbird, but for whole requests and answers instead of their parts.
///
/// A request that came in one piece passes once from the connection's event loop to the task, and its answer passes
/// once back. Each costs one lock. ``RequestHandler`` fills the queue from the pipeline.
package final class RequestQueue: ServerChildChannelValue {
  /// Once or twice this time is how long ``nextSoon()`` waits.
  static let quiet = TimeAmount.seconds(2)
  /// An answer that is still being written then may take much longer, as that of a feed does.
  private static let longAnswer = TimeAmount.seconds(30)
  /// The limit of waiting requests, from which on nothing more is read from the client.
  static let readAhead = 2

  private typealias Waiting = CheckedContinuation<Request?, any Error>

  /// How long a task still waits for a request: without end, for two calls of ``endQuietWait()``, or for one.
  private enum Patience { case endless, some, little }

  private struct State {
    /// Empty as long as the client waits for each answer, so it has little space at first.
    var requests = CircularBuffer<(request: Request, reservation: RequestReservation?)>(
      initialCapacity: 1)
    /// The memory and the slot of the request that is being answered.
    var reservation: RequestReservation?
    /// The task that waits for a request.
    var waiting: Waiting?
    /// How long it still waits.
    var patience = Patience.endless
    /// Whether no more requests come.
    var isOver = false
    /// The parser's error, until it is reported.
    var failure: HTTPParserError?
    /// Whether the current body has to wait for its reader.
    var isBodyFull = false
    /// The executor of the answering task, once it has begun.
    var executor: WorkExecutor?
    /// Whether the client has gone.
    var hasGone = false
    /// Whether a read of the channel was postponed.
    var isReadPostponed = false

    var isFull: Bool { isBodyFull || requests.count >= RequestQueue.readAhead }
  }

  /// The connection.
  package let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) {
    self.channel = channel
    // A handler in the pipeline may keep a connection reset to itself, so the queue watches the close future as well.
    channel.closeFuture.whenComplete { [weak self] _ in self?.clientClosed(hasGone: true) }
  }

  /// Waits for the next request. Only one task may call it.
  /// - Returns: nil when there are no more.
  /// - Throws: the parser's error.
  func next() async throws -> Request? { try await next(.endless) }

  /// Waits some seconds for the next request. The task that answers ends then, because a task keeps the memory of its
  /// deepest call. Only one task may wait.
  /// - Returns: nil when there are no more, or none has come.
  /// - Throws: the parser's error.
  func nextSoon() async throws -> Request? { try await next(.some) }

  private func next(_ patience: Patience) async throws -> Request? {
    try await withCheckedThrowingContinuation { continuation in
      let (result, mustRead) = state.withLock { state in
        state.reservation = nil
        let result = Self.nextResult(&state)
        if result == nil {
          state.waiting = continuation
          state.patience = patience
        }
        return (result, Self.takePostponedRead(&state))
      }
      if mustRead { channel.read() }
      result.map { continuation.resume(with: $0) }
    }
  }

  private static func nextResult(_ state: inout State) -> Result<Request?, any Error>? {
    if let next = state.requests.popFirst() {
      state.reservation = next.reservation
      return .success(next.request)
    }
    guard state.isOver else { return nil }
    defer { state.failure = nil }
    return state.failure.map { .failure($0) } ?? .success(nil)
  }

  /// Whether a postponed read has to happen now.
  private static func takePostponedRead(_ state: inout State) -> Bool {
    guard state.isReadPostponed, !state.isFull else { return false }
    state.isReadPostponed = false
    return true
  }

  /// Notes the executor of the answering task, so that its work ends when the client has gone.
  func note(_ executor: WorkExecutor) {
    let hasGone = state.withLock { state in
      state.executor = executor
      return state.hasGone
    }
    if hasGone { executor.clientLeft() }
  }

  /// The memory and the slot of the request that ``next()`` returned last. They are kept until the next call of it.
  var reservation: RequestReservation? { state.withLock { $0.reservation } }

  // MARK: On the event loop

  /// Notes that the client sends nothing more, or has gone.
  func clientClosed(hasGone: Bool) {
    let executor = state.withLock { state in
      state.hasGone = state.hasGone || hasGone
      return state.executor
    }
    if hasGone { executor?.clientLeft() } else { executor?.clientClosedItsSide() }
  }

  /// Ends ``nextSoon()`` if it was waiting at the last call already, and still waits for the same request.
  /// - Returns: when to call it again; nil for not before the next request.
  func endQuietWait() -> TimeAmount? {
    let (next, waiting) = state.withLock { state -> (TimeAmount?, Waiting?) in
      guard !state.isOver else { return (nil, nil) }
      guard state.waiting != nil else { return (Self.longAnswer, nil) }
      switch state.patience {
      case .endless: return (nil, nil)
      case .some:
        state.patience = .little
        return (Self.quiet, nil)
      case .little:
        defer { state.waiting = nil }
        return (nil, state.waiting)
      }
    }
    waiting?.resume(returning: nil)
    return next
  }

  /// Adds a request, unless the queue has ended.
  /// - Parameter reservation: its memory and its slot, kept while it is being answered.
  func append(_ request: Request, _ reservation: RequestReservation? = nil) {
    let waiting = state.withLock { state -> Waiting? in
      guard !state.isOver else { return nil }
      if let waiting = state.waiting {
        state.waiting = nil
        state.reservation = reservation
        return waiting
      }
      state.requests.append((request, reservation))
      return nil
    }
    waiting?.resume(returning: request)
  }

  /// Ends the queue after the requests that wait in it.
  /// - Parameter failure: the parser's error, if that is the reason.
  func finish(_ failure: HTTPParserError?) {
    let waiting = state.withLock { state -> Waiting? in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.isBodyFull = false
      guard let waiting = state.waiting else {
        state.failure = failure
        return nil
      }
      state.waiting = nil
      return waiting
    }
    if let failure { waiting?.resume(throwing: failure) } else { waiting?.resume(returning: nil) }
  }

  /// Removes the requests that wait, and ends the queue.
  func drop() {
    let waiting = state.withLock { state -> Waiting? in
      state.requests.removeAll()
      state.isOver = true
      state.isBodyFull = false
      state.failure = nil
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(returning: nil)
  }

  /// Whether the channel may read. If not, the queue makes it read later.
  func mayRead() -> Bool {
    state.withLock { state in
      state.isReadPostponed = state.isFull
      return !state.isReadPostponed
    }
  }

  /// Notes whether the current body has to wait for its reader.
  func noteBody(isFull: Bool) {
    let mustRead = state.withLock { state in
      state.isBodyFull = isFull
      return Self.takePostponedRead(&state)
    }
    if mustRead { channel.read() }
  }
}
