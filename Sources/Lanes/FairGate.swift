import Synchronization

/// Lets so many pass at once, the others in the order of their accounts: for what is one bounded call and can't be
/// taken up again, as a search of a catalogue.
///
/// ```swift
/// let page = try await gate.pass { place in try await readers[place].search(query) }
/// ```
package final class FairGate: Sendable {
  private struct State {
    var queue = FairQueue(.searches)
    /// The places that nobody has.
    var free: [Int]
  }

  private let state: Mutex<State>
  /// Who pays for what is nobody's request.
  private let system = ProcessorAccount(isLimited: false)

  /// A gate with so many places.
  package init(places: Int) {
    state = Mutex(State(free: Array((0..<max(1, places)).reversed())))
  }

  /// Waits for a place, runs `body` there and gives it to whoever is next.
  /// - Parameter body: gets the number of its place, from 0.
  package func pass<Value, Failure: Error>(
    _ body: (Int) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let place = await enter()
    defer { leave(place) }
    return try await body(place)
  }

  /// How many wait.
  var waitingCount: Int { state.withLock { $0.queue.count } }

  private func enter() async -> Int {
    let work = Work.current
    return await withUnsafeContinuation { continuation in
      let now = SliceClock.now
      let place: Int? = state.withLock { state in
        if let free = state.free.popLast() { return free }
        state.queue.push(
          PoolEntry(kind: .gate(continuation), work: work, since: now),
          work?.account ?? system, at: now)
        return nil
      }
      if let place { continuation.resume(returning: place) }
    }
  }

  private func leave(_ place: Int) {
    let next = state.withLock { state -> PoolEntry? in
      let next = state.queue.pop(at: SliceClock.now)
      if next == nil { state.free.append(place) }
      return next
    }
    if case .gate(let continuation) = next?.kind { continuation.resume(returning: place) }
  }
}
