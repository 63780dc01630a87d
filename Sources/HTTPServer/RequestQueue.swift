import HummingbirdCore
package import NIOCore
import NIOHTTP1
import Scheduling
import Synchronization

/// The requests of one HTTP/1 connection, for the task that answers them one after the other. It has the role of
/// `NIOAsyncChannel` in Hummingbird, but for whole requests and answers instead of their parts.
///
/// A request that came in one piece passes once from the connection's event loop to the task, and its answer passes
/// once back. Each costs one lock. ``RequestHandler`` fills the queue from the pipeline.
package final class RequestQueue: ServerChildChannelValue {
  /// ``nextSoon()`` waits once to twice this time.
  static let quiet = TimeAmount.seconds(2)
  /// The limit of waiting requests, from which on nothing more is read from the client.
  static let readAhead = 2

  /// The task that answers, while it waits.
  private struct Waiting {
    let continuation: CheckedContinuation<Request?, any Error>
    /// Whether it takes the next request, and waits until the client is quiet.
    let takes: Bool

    /// - Parameter failure: instead of the request.
    func resume(with request: Request?, failure: HTTPParserError? = nil) {
      if let failure {
        continuation.resume(throwing: failure)
      } else {
        continuation.resume(returning: request)
      }
    }
  }

  private struct State {
    /// Mostly empty, because a client waits for each answer, so it has little space at first.
    var requests = CircularBuffer<(request: Request, reservation: RequestReservation?)>(
      initialCapacity: 1)
    /// The memory and the slot of the request that is being answered.
    var reservation: RequestReservation?
    var waiting: Waiting?
    /// Whether a timer runs that looks whether the client is quiet, and whether it has looked since the wait began.
    var (isWatched, hasLooked) = (false, false)
    /// Whether no more requests come.
    var isOver = false
    /// The parser's error, until it is reported.
    var failure: HTTPParserError?
    /// Whether the current body has to wait for its reader.
    var isBodyFull = false
    /// The work for the request that is being answered.
    var work: Work?
    /// The account that paid for the last request. The next request most probably belongs to it too, and waits on it.
    var lastAccount: ProcessorAccount?
    /// Whether the client sends nothing more, and whether it has gone.
    var (hasClosedItsSide, hasGone) = (false, false)
    var isReadPostponed = false
    /// Whether the task had to wait for the present request. If not, it answers on since the turn began.
    var hasWaited = true
    var turn = Slice(of: nil)

    var isFull: Bool { isBodyFull || requests.count >= RequestQueue.readAhead }
  }

  package let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) {
    self.channel = channel
    // A handler in the pipeline may keep a connection reset to itself, so the queue watches the close future as well.
    channel.closeFuture.whenComplete { [weak self] _ in self?.clientClosed(hasGone: true) }
  }

  /// Waits until there is a request for ``nextSoon()``. Only one task may wait.
  /// - Returns: false when there are no more.
  /// - Throws: the parser's error.
  func waitForNext() async throws -> Bool { try await next(takes: false) != nil }

  /// Waits for the next request, but not much longer than ``quiet``. The task that answers ends then, because a task
  /// keeps the memory of its deepest call. Only one task may wait.
  /// - Returns: nil when there are no more, or none has come.
  /// - Throws: the parser's error.
  func nextSoon() async throws -> Request? { try await next(takes: true) }

  /// Ends the present request and waits for another.
  private func next(takes: Bool) async throws -> Request? {
    try await withCheckedThrowingContinuation { continuation in
      let waiting = Waiting(continuation: continuation, takes: takes)
      let (isReady, request, failure, mustRead, mustWatch) = state.withLock { state in
        if let work = state.work { (state.lastAccount, state.work) = (work.account, nil) }
        let next = takes ? state.requests.popFirst() : state.requests.first
        state.reservation = takes ? next?.reservation : nil
        let isReady = next != nil || state.isOver
        // The parser's error comes behind all requests.
        let failure = next == nil ? state.failure : nil
        if failure != nil { state.failure = nil }
        if !isReady {
          state.waiting = waiting
          state.hasWaited = true
          if takes { state.hasLooked = false }
        }
        let mustWatch = !isReady && takes && !state.isWatched
        if mustWatch { state.isWatched = true }
        let mustRead = Self.takePostponedRead(&state)
        return (isReady, next?.request, failure, mustRead, mustWatch)
      }
      if mustRead { channel.read() }
      if mustWatch { watch() }
      if isReady { waiting.resume(with: request, failure: failure) }
    }
  }

  /// Looks again and again whether the client has become quiet. One timer for many requests costs less than one for
  /// each.
  private func watch() {
    channel.eventLoop.scheduleTask(in: Self.quiet) { [weak self] in
      if let self, endQuietWait() { watch() }
    }
  }

  /// Ends ``nextSoon()`` if it has waited since the last look.
  /// - Returns: whether to look again.
  private func endQuietWait() -> Bool {
    let (isWatched, waiting) = state.withLock { state -> (Bool, Waiting?) in
      if state.waiting?.takes == true {
        guard state.hasLooked else {
          state.hasLooked = true
          return (true, nil)
        }
        state.isWatched = false
        defer { state.waiting = nil }
        return (false, state.waiting)
      }
      state.isWatched = false
      return (false, nil)
    }
    waiting?.resume(with: nil)
    return isWatched
  }

  /// Whether a postponed read has to happen now.
  private static func takePostponedRead(_ state: inout State) -> Bool {
    guard state.isReadPostponed, !state.isFull else { return false }
    state.isReadPostponed = false
    return true
  }

  /// Waits until the work for a request may begin. From now on it ends when the client has gone. For a client that always
  /// has another request ready, the task gives way once a slice, as for one long request: answers that wait for nothing
  /// would keep a thread of Swift's pool.
  func begin(_ work: Work) async {
    let (hasClosedItsSide, hasGone, lastAccount, goesOn) = state.withLock { state in
      state.work = work
      let goesOn = !state.hasWaited && state.turn.isOver
      if state.hasWaited || goesOn { state.turn = Slice(of: nil) }
      state.hasWaited = false
      return (state.hasClosedItsSide, state.hasGone, state.lastAccount, goesOn)
    }
    if hasGone { work.end(.gone) } else if hasClosedItsSide { work.clientClosedItsSide() }
    await work.begin(after: lastAccount, mayBeFree: !goesOn)
  }

  /// The memory and the slot of the request that ``nextSoon()`` returned last. They are kept until the next wait.
  var reservation: RequestReservation? { state.withLock { $0.reservation } }

  // MARK: On the event loop

  /// Notes that the client sends nothing more, or has gone.
  func clientClosed(hasGone: Bool) {
    let work = state.withLock { state in
      state.hasClosedItsSide = true
      state.hasGone = state.hasGone || hasGone
      return state.work
    }
    if hasGone { work?.end(.gone) } else { work?.clientClosedItsSide() }
  }

  /// Adds a request, unless the queue has ended.
  /// - Parameter reservation: its memory and its slot, kept while it is being answered.
  func append(_ request: Request, _ reservation: RequestReservation? = nil) {
    let waiting = state.withLock { state -> Waiting? in
      guard !state.isOver else { return nil }
      defer { state.waiting = nil }
      if state.waiting?.takes == true {
        state.reservation = reservation
      } else {
        state.requests.append((request, reservation))
      }
      return state.waiting
    }
    waiting?.resume(with: request)
  }

  /// Ends the queue after the requests that wait in it.
  /// - Parameter failure: the parser's error, if that is the reason.
  /// - Parameter drops: whether they are removed, and so not answered.
  func finish(_ failure: HTTPParserError?, drops: Bool = false) {
    let waiting = state.withLock { state -> Waiting? in
      if drops {
        state.requests.removeAll()
        state.failure = nil
      }
      guard !state.isOver else { return nil }
      state.isOver = true
      state.isBodyFull = false
      if state.waiting == nil { state.failure = failure }
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: nil, failure: failure)
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
