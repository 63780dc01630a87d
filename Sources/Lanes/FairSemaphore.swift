/// Limits how many calls run at the same time, and serves the waiting callers in the order of their accounts.
///
/// It is for calls that take a bounded time, run on a thread of their own and can't be interrupted and resumed, such as
/// a search of a catalogue or the hash of a password.
///
/// ```swift
/// let page = try await semaphore.withPermit { permit in try await readers[permit].search(query) }
/// ```
/// A permit is the right to run one call. One additional permit is reserved for an account that is not overdrawn and
/// has no call running yet. Such a caller does not wait for the calls of a caller that makes many. Each running call
/// uses a processor, so the calling request's pool computes with one thread fewer meanwhile.
package final class FairSemaphore: Sendable {
  private struct State {
    var queue = FairQueue(.semaphores)
    /// The permits that are free.
    var free: [Int]
    /// The accounts that have the other permits: accounts of the upper level.
    var holders: [Int: AccountLine] = [:]
  }

  private let state: Locked<State>
  private let queueLimit: Int
  /// The account that pays for work that belongs to no request.
  private let system = ProcessorAccount(isLimited: false)

  /// Makes a semaphore.
  /// - Parameter permits: how many calls run at once, without the reserved permit.
  /// - Parameter queueLimit: how many callers wait at most.
  package init(permits: Int, queueLimit: Int) {
    self.queueLimit = queueLimit
    state = Locked(State(free: Array((0...max(0, permits)).reversed())))
  }

  /// Waits for a permit, runs `body`, and gives the permit to the next caller.
  /// - Parameter body: gets the number of its permit, 0 to `permits`.
  /// - Returns: the result of `body`; nil when `queueLimit` callers wait already, and when the client has gone while
  ///   the call waited.
  package func withPermit<Value, Failure: Error>(
    _ body: (Int) async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    guard let permit = await acquire() else { return nil }
    defer { release(permit) }
    let pool = WorkExecutor.current?.pool
    pool?.reserveProcessor()
    defer { pool?.releaseProcessor() }
    return try await body(permit)
  }

  /// How many callers wait.
  var waitingCount: Int { state.withLock { $0.queue.count } }

  private func acquire() async -> Int? {
    let work = Work.current
    let account = work?.account ?? system
    let line = account.line(in: .semaphores)
    let upper = line.parent ?? line
    return await withUnsafeContinuation { continuation in
      let now = SliceClock.now
      let answer: Int?? = state.withLock { state in
        let isAllowed =
          state.free.count > 1
          || !account.isOverdrawn && !state.holders.values.contains { $0 === upper }
        if isAllowed, let permit = state.free.popLast() {
          state.holders[permit] = upper
          return permit
        }
        guard state.queue.count < queueLimit else { return .some(nil) }
        state.queue.push(
          PoolEntry(kind: .permit(continuation), work: work, since: now), account, at: now)
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  private func release(_ permit: Int) {
    while let next = next(for: permit) {
      guard case .permit(let continuation) = next.kind else { return }
      guard next.work?.reason == .gone else { return continuation.resume(returning: permit) }
      continuation.resume(returning: nil)
    }
  }

  /// Gives a permit that became free to the next caller; keeps it free when nobody may have it.
  private func next(for permit: Int) -> PoolEntry? {
    state.withLock { state -> PoolEntry? in
      state.holders[permit] = nil
      let spared = state.free.isEmpty ? Array(state.holders.values) : nil
      guard let next = state.queue.pop(at: SliceClock.now, sparing: spared) else {
        state.free.append(permit)
        return nil
      }
      let line = (next.work?.account ?? system).line(in: .semaphores)
      state.holders[permit] = line.parent ?? line
      return next
    }
  }
}
