/// Lets so many pass at once, the others in the order of their accounts: for what is one bounded call on a thread of its
/// own and can't be taken up again, as a search of a catalogue or the hash of a password.
///
/// ```swift
/// let page = try await gate.pass { place in try await readers[place].search(query) }
/// ```
/// One place more is kept for who has not overdrawn and has nobody inside yet: such a one need not wait until somebody
/// who asks much has finished. Whoever is inside takes a processor: the pool whose request it is has one fewer
/// meanwhile.
package final class FairGate: Sendable {
  private struct State {
    var queue = FairQueue(.gates)
    /// The places that nobody has.
    var free: [Int]
    /// Who has the others: accounts of the upper level.
    var inside: [Int: AccountLine] = [:]
  }

  private let state: Locked<State>
  private let seats: Int
  /// Who pays for what is nobody's request.
  private let system = ProcessorAccount(isLimited: false)

  /// A gate.
  /// - Parameter places: how many are inside at once, the kept place not counted.
  /// - Parameter seats: how many wait at most.
  package init(places: Int, seats: Int) {
    self.seats = seats
    state = Locked(State(free: Array((0...max(0, places)).reversed())))
  }

  /// Waits for a place, runs `body` there and gives it to whoever is next.
  /// - Parameter body: gets the number of its place, 0 to `places`.
  /// - Returns: what `body` does; nil where as many wait as may, and for who has gone while waiting.
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

  /// How many wait.
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

  /// Takes who is to have a place that is free; leaves it free where nobody waits.
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
