import NIOConcurrencyHelpers

/// Limits how many calls run at the same time, and serves the waiting callers in the order of their accounts.
///
/// It is for calls that take a bounded time and can't be interrupted and resumed, such as a search of a catalogue, the
/// hash of a password or a transaction of a database.
///
/// ```swift
/// let page = try await semaphore.withPermit { permit in try await readers[permit].search(query) }
/// ```
/// A permit is the right to run one call. One additional permit is reserved for an account that is not overdrawn and
/// has no call running yet. Such a caller does not wait for the calls of a caller that makes many.
package final class FairSemaphore: Sendable {
  /// What waits for a permit.
  package enum Flow: Sendable {
    /// The calling task's request.
    case request
    /// An account, for work that is done for several requests. It does not end with one of them.
    case account(ProcessorAccount)
    /// Everybody. The call does not wait behind others, and may have the reserved permit. It must be short, and there
    /// must be few such calls at a time.
    case everybody
  }

  private struct State {
    var queue: FairQueue
    /// The permits that are free.
    var free: [Int]
    /// The accounts that have the other permits: accounts of the upper level. Everybody's is not among them.
    var holders: [Int: AccountLine] = [:]
    /// The permits that may not be given at present.
    var withdrawn: Set<Int> = []
  }

  private let state: NIOLockedValueBox<State>
  private let name: AccountLine.Queue
  private let count: Int
  private let queueLimit: Int
  private let takesProcessor: Bool
  /// The account that pays for work that belongs to no request.
  private let system = ProcessorAccount(isLimited: false)
  /// The account of ``Flow/everybody``. It is never charged, so it is next.
  private let everybody = ProcessorAccount(isLimited: false)

  /// Makes a semaphore.
  /// - Parameter name: what the permits are for. A process has one semaphore of each.
  /// - Parameter permits: how many calls run at once, without the reserved permit.
  /// - Parameter queueLimit: how many callers wait at most.
  /// - Parameter takesProcessor: whether a running call uses a processor on a thread of its own. The calling request's
  ///   server then computes with one seat fewer meanwhile.
  package init(
    _ name: AccountLine.Queue, permits: Int, queueLimit: Int, takesProcessor: Bool = true
  ) {
    self.name = name
    count = max(0, permits) + 1
    self.queueLimit = queueLimit
    self.takesProcessor = takesProcessor
    state = NIOLockedValueBox(
      State(queue: FairQueue(name), free: Array((0...max(0, permits)).reversed())))
  }

  /// Waits for a permit, runs `body`, and gives the permit to the next caller.
  /// - Parameter body: gets the number of its permit, 0 to `permits`. The lowest numbers are given first, and the permit
  ///   that became free last.
  /// - Returns: the result of `body`; nil when `queueLimit` callers wait already, and when the client has gone while
  ///   the call waited. Of too many callers the address with the most loses its last one.
  package func withPermit<Value, Failure: Error>(
    for flow: Flow = .request, _ body: (Int) async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    guard let permit = await acquire(flow) else { return nil }
    defer { release(permit) }
    let seats = takesProcessor ? Work.current?.seats : nil
    seats?.reserveProcessor(true)
    defer { seats?.reserveProcessor(false) }
    return try await body(permit)
  }

  /// Withdraws the permit of a running call: when the call ends, no caller gets it until ``restore(_:)``. If no other
  /// permit is left, the waiting callers get nil, as do all later ones.
  package func withdraw(_ permit: Int) {
    let waiting = state.withLockedValue { state -> [Waiter] in
      state.withdrawn.insert(permit)
      guard state.withdrawn.count == count else { return [] }
      var waiting: [Waiter] = []
      while let next = state.queue.pop(at: SliceClock.now) { waiting.append(next) }
      return waiting
    }
    for case .permit(let continuation, _) in waiting.map(\.kind) {
      continuation.resume(returning: nil)
    }
  }

  /// Gives a withdrawn permit to the next caller. Its call must have ended.
  package func restore(_ permit: Int) {
    state.withLockedValue { _ = $0.withdrawn.remove(permit) }
    release(permit)
  }

  /// Whether all permits are withdrawn.
  package var isExhausted: Bool { state.withLockedValue { $0.withdrawn.count == count } }

  package var waitingCount: Int { state.withLockedValue { $0.queue.count } }

  /// Whether any account would get a permit at once.
  package var isFree: Bool { state.withLockedValue { $0.free.count > 1 && $0.queue.isEmpty } }

  /// The line that counts as the holder of a permit; nil for everybody's.
  private func holder(_ account: ProcessorAccount) -> AccountLine? {
    guard account !== everybody else { return nil }
    let line = account.line(in: name)
    return line.parent ?? line
  }

  private func acquire(_ flow: Flow) async -> Int? {
    let (work, account): (Work?, ProcessorAccount) =
      switch flow {
      case .request: (Work.current, Work.current?.account ?? system)
      case .account(let account): (nil, account)
      case .everybody: (nil, everybody)
      }
    let holder = holder(account)
    return await Work.waiting {
      await withUnsafeContinuation { continuation in
        let now = SliceClock.now
        let (answer, displaced): (Int??, Waiter?) = state.withLockedValue { state in
          let isAllowed =
            state.free.count > 1
            || !account.isOverdrawn && !state.holders.values.contains { $0 === holder }
          if isAllowed, let permit = state.free.popLast() {
            state.holders[permit] = holder
            return (permit, nil)
          }
          guard state.withdrawn.count < count else { return (.some(nil), nil) }
          var displaced: Waiter?
          if state.queue.count >= queueLimit {
            displaced = state.queue.displace(for: account)
            guard displaced != nil else { return (.some(nil), nil) }
          }
          state.queue.push(
            Waiter(kind: .permit(continuation, account), work: work, since: now), account,
            at: now)
          return (nil, displaced)
        }
        if case .permit(let displaced, _) = displaced?.kind { displaced.resume(returning: nil) }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }

  private func release(_ permit: Int) {
    while let next = next(for: permit) {
      guard case .permit(let continuation, _) = next.kind else { return }
      guard next.work?.reason == .gone else { return continuation.resume(returning: permit) }
      continuation.resume(returning: nil)
    }
  }

  /// Gives a permit that became free to the next caller; keeps it free when it may not be given.
  private func next(for permit: Int) -> Waiter? {
    state.withLockedValue { state -> Waiter? in
      state.holders[permit] = nil
      guard !state.withdrawn.contains(permit) else { return nil }
      let spared = state.free.isEmpty ? Array(state.holders.values) : nil
      guard let next = state.queue.pop(at: SliceClock.now, sparing: spared) else {
        state.free.append(permit)
        return nil
      }
      if case .permit(_, let account) = next.kind { state.holders[permit] = holder(account) }
      return next
    }
  }
}
