import Lanes
import NIOConcurrencyHelpers

extension DatabaseManager {
  typealias Stores = OpenStores<OpenStore>

  /// Waits in a store's line; a cancelled task leaves it.
  nonisolated func answer(to request: Stores.Request, for name: StoreName) async -> Stores.Answer {
    let ticket = drawTicket()
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (outcome, isCertain) = state.withLockedValue { state in
          state.waiting[ticket] = continuation
          let outcome = state.stores.ask(request, for: name, as: ticket)
          return (outcome, state.stores.isCertain(ticket, for: name))
        }
        settle(outcome)
        // The handler has run before the ticket was in the line, if the task was cancelled already.
        if Task.isCancelled { withdraw(ticket, from: name, .withdrawn) }
        if request != .erase, !isCertain, isWaiting(ticket) { timer = expire(ticket, for: name) }
      }
    } onCancel: {
      withdraw(ticket, from: name, .withdrawn)
    }
  }

  /// Waits until every store is closed; not to be cancelled, since data is being closed.
  nonisolated func stopped() async -> Stores.Answer {
    let ticket = drawTicket()
    return await withCheckedContinuation { continuation in
      settle(
        state.withLockedValue { state in
          state.waiting[ticket] = continuation
          return state.stores.stop(as: ticket)
        })
    }
  }

  /// Gives answers and begins work; never under the lock.
  nonisolated func settle(_ outcome: Stores.Outcome) {
    for (ticket, answer) in outcome.answers {
      let continuation = state.withLockedValue { $0.waiting.removeValue(forKey: ticket) }
      continuation?.resume(returning: answer)
    }
    for work in outcome.work {
      Task(executorPreference: WorkExecutor.outlasting) { await self.perform(work) }
    }
  }

  nonisolated private func perform(_ work: Stores.Work) async {
    switch work {
    case .open(let name, let creating):
      let result = await open(name, creating: creating)
      settle(state.withLockedValue { $0.stores.opened(name, result) })
    case .close(let name, let open):
      await open.storage.close()
      settle(state.withLockedValue { $0.stores.closed(name) })
    case .erase(let name):
      state.withLockedValue { $0.feeds.remove(name) }?.finish()
      let result: Result<Bool, StoreError>
      do { result = .success(try await engine.erase(name)) } catch { result = .failure(error) }
      settle(state.withLockedValue { $0.stores.erased(name, result) })
    }
  }

  nonisolated private func open(
    _ name: StoreName, creating: Bool
  ) async -> Result<OpenStore?, StoreError> {
    do {
      guard let storage = try await engine.open(name, creating: creating) else {
        return .success(nil)
      }
      let health = StorageHealth()
      let store = DocumentStore(
        name: name, storage: WatchedStorage(storage: storage, health: health),
        feed: state.withLockedValue { $0.feeds.feed(for: name) }, limits: limits(name), now: now,
        follower: follower)
      return .success(OpenStore(name: name, store: store, storage: storage, health: health))
    } catch {
      return .failure(error)
    }
  }

  nonisolated private func drawTicket() -> UInt64 {
    state.withLockedValue { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  nonisolated private func isWaiting(_ ticket: UInt64) -> Bool {
    state.withLockedValue { $0.waiting[ticket] != nil }
  }

  nonisolated private func withdraw(_ ticket: UInt64, from name: StoreName, _ error: StoreError) {
    settle(state.withLockedValue { $0.stores.withdraw(ticket, for: name, error) })
  }

  /// Takes a caller out of the line when it has waited long enough, unless its store is being
  /// opened.
  nonisolated private func expire(_ ticket: UInt64, for name: StoreName) -> Task<Void, Never> {
    Task { [clock, leaseWait] in
      guard (try? await clock.sleep(for: leaseWait)) != nil else { return }
      let outcome = state.withLockedValue { state in
        guard !state.stores.isCertain(ticket, for: name) else { return Stores.Outcome() }
        return state.stores.withdraw(ticket, for: name, .crowded)
      }
      settle(outcome)
    }
  }
}
