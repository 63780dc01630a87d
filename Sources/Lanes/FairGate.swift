/// Limits how many calls run at the same time, and serves the waiting callers in the order of their accounts.
///
/// It is for calls that take a bounded time, run on a thread of their own and can't be interrupted and resumed, such as
/// a search of a catalogue or the hash of a password.
///
/// ```swift
/// let page = try await gate.pass { place in try await readers[place].search(query) }
/// ```
/// A place is the right to run one call. One additional place is reserved for an account that is not overdrawn and has
/// no call running yet: such a caller does not wait for the calls of a caller that asks much. Each running call uses a
/// processor, so the calling request's pool computes with one thread fewer meanwhile.
package final class FairGate: Sendable {
  private struct State {
    var queue = FairQueue(.gates)
    /// The places that are free.
    var free: [Int]
    /// The accounts that have the other places: accounts of the upper level.
    var inside: [Int: AccountLine] = [:]
  }

  private let state: Locked<State>
  private let seats: Int
  /// The account that pays for work that belongs to no request.
  private let system = ProcessorAccount(isLimited: false)

  /// Makes a gate.
  /// - Parameter places: how many calls run at once, without the reserved place.
  /// - Parameter seats: how many callers wait at most.
  package init(places: Int, seats: Int) {
    self.seats = seats
    state = Locked(State(free: Array((0...max(0, places)).reversed())))
  }

  /// Waits for a place, runs `body`, and gives the place to the next caller.
  /// - Parameter body: gets the number of its place, 0 to `places`.
  /// - Returns: the result of `body`; nil when `seats` callers wait already, and when the client has gone while the
  ///   call waited.
  package func pass<Value, Failure: Error>(
    _ body: (Int) async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    guard let place = await enter() else { return nil }
    defer { leave(place) }
    let pool = WorkExecutor.current?.pool
    pool?.lend()
    defer { pool?.takeBack() }
    return try await body(place)
  }

  /// How many callers wait.
  var waitingCount: Int { state.withLock { $0.queue.count } }

  private func enter() async -> Int? {
    let work = Work.current
    let account = work?.account ?? system
    let line = account.line(in: .gates)
    let upper = line.parent ?? line
    return await withUnsafeContinuation { continuation in
      let now = SliceClock.now
      let answer: Int?? = state.withLock { state in
        let isAllowed =
          state.free.count > 1
          || !account.isOverdrawn && !state.inside.values.contains { $0 === upper }
        if isAllowed, let place = state.free.popLast() {
          state.inside[place] = upper
          return place
        }
        guard state.queue.count < seats else { return .some(nil) }
        state.queue.push(
          PoolEntry(kind: .gate(continuation), work: work, since: now), account, at: now)
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  private func leave(_ place: Int) {
    while let next = next(for: place) {
      guard case .gate(let continuation) = next.kind else { return }
      guard next.work?.reason == .gone else { return continuation.resume(returning: place) }
      continuation.resume(returning: nil)
    }
  }

  /// Gives a place that became free to the next caller; keeps it free when nobody may have it.
  private func next(for place: Int) -> PoolEntry? {
    state.withLock { state -> PoolEntry? in
      state.inside[place] = nil
      let spared = state.free.isEmpty ? Array(state.inside.values) : nil
      guard let next = state.queue.pop(at: SliceClock.now, sparing: spared) else {
        state.free.append(place)
        return nil
      }
      let line = (next.work?.account ?? system).line(in: .gates)
      state.inside[place] = line.parent ?? line
      return next
    }
  }
}
