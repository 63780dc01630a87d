package import Documents
import Lanes
import NIOConcurrencyHelpers

/// Leases stores. A store is opened once however many ask for it, stays open while it is used and
/// for a while after, makes way for another when all slots are taken, and is never closed under a
/// lease.
///
/// The stores that are open stand in a value, ``OpenStores``, behind a mutex: leasing an open store
/// is two short critical sections, without a hop to another executor. Opening, closing and erasing
/// are tasks of their own, so that a caller that gives up takes nobody else's store away.
package actor DatabaseManager {
  /// The most stores that are open at once, whatever the system allows: about 120 MiB, and up to half
  /// a MiB more for each that is read widely or edits long histories.
  package static let maximumOpenStores = 2_000

  nonisolated let engine: any StorageEngine
  nonisolated let limits: @Sendable (StoreName) -> StoreLimits
  nonisolated let now: @Sendable () -> Timestamp
  nonisolated let follower: CommitFollower
  nonisolated let clock: any Clock<Duration>
  nonisolated let leaseWait: Duration
  nonisolated let sweepInterval: Duration
  nonisolated let state: NIOLockedValueBox<State>

  /// An open store. An object, so that a lease is one reference.
  final class OpenStore: Sendable {
    /// What a lease gives.
    let store: DocumentStore

    init(_ store: DocumentStore) { self.store = store }
  }

  /// All that changes.
  struct State: Sendable {
    /// Which stores are open, and who waits.
    var stores: OpenStores<OpenStore>
    /// The feeds.
    var feeds = ChangeFeeds()
    /// The callers that wait.
    var waiting: [UInt64: CheckedContinuation<OpenStores<OpenStore>.Answer, Never>] = [:]
    /// The stores that are being filled.
    var filling: Set<StoreName> = []
    /// The last ticket that was drawn.
    var lastTicket: UInt64 = 0
  }

  /// A manager over an engine, with no store open.
  /// - Parameter maximumOpen: how many stores may be open at once, at least 1; see
  ///   ``maximumOpen(descriptorLimit:descriptorsPerStore:)``.
  /// - Parameter idleSeconds: a store that nobody has used this long is closed by ``run()``, within
  ///   half as much again.
  /// - Parameter leaseWaitSeconds: how long a caller waits for a slot or for another's lease to
  ///   end.
  /// - Parameter limits: what each store takes.
  /// - Parameter now: stamps documents.
  /// - Parameter follower: the rule that follows commits into any store.
  /// - Parameter clock: measures waits.
  package init(
    engine: any StorageEngine, maximumOpen: Int, idleSeconds: Int = 60, leaseWaitSeconds: Int = 5,
    limits: @escaping @Sendable (StoreName) -> StoreLimits = { StoreLimits.standard(for: $0) },
    now: @escaping @Sendable () -> Timestamp, follower: CommitFollower = .none,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.engine = engine
    self.limits = limits
    self.now = now
    self.follower = follower
    self.clock = clock
    leaseWait = .seconds(max(0, leaseWaitSeconds))
    sweepInterval = .seconds(max(1, idleSeconds)) / 2
    state = NIOLockedValueBox(State(stores: OpenStores(maximumOpen: maximumOpen)))
  }

  /// How many stores may be open: a reserve of 512 descriptors, or half of few, is left to
  /// connections.
  /// - Parameter descriptorLimit: the process's soft RLIMIT_NOFILE.
  /// - Returns: at least 4, at most ``maximumOpenStores``.
  package static func maximumOpen(descriptorLimit: Int, descriptorsPerStore: Int) -> Int {
    let limit = max(0, descriptorLimit)
    let free = limit - min(512, limit / 2)
    return max(4, min(maximumOpenStores, free / max(1, descriptorsPerStore)))
  }

  /// What a store takes.
  package nonisolated func limits(of name: StoreName) -> StoreLimits { limits(name) }

  /// The feed of a store, which stays the same while the store is closed and opened again and ends
  /// when it is erased. A reader holds no lease: it leases the store for each page.
  package func feed(for name: StoreName) -> ChangeFeed {
    state.withLockedValue { $0.feeds.feed(for: name) }
  }

  /// Ends a store: waits until nobody uses it, ends its feed, closes and erases it. Whoever asks
  /// for it meanwhile waits, and then finds it absent or makes a new one.
  /// - Parameter isNoted: whether a backup from before must not bring it back. What was erased by the clock alone
  ///   may come back: it is erased again, unless the clock was wrong.
  /// - Returns: false when it was absent.
  /// - Throws: what the engine throws; `unavailable` when the service stops or the task is
  ///   cancelled.
  package func erase(_ name: StoreName, isNoted: Bool = true) async throws -> Bool {
    if isNoted { try await engine.noteErasure(of: name) }
    switch await answer(to: .erase, for: name) {
    case .erased(let wasThere): return wasThere
    case .failed(let error): throw error
    case .leased, .absent, .alone, .stopped: throw ServiceError.stopping
    }
  }

  /// Ends every feed, refuses further leases, waits for those that are out and closes every store.
  /// The engine stays open: its owner closes it afterwards.
  package func close() async {
    let feeds = state.withLockedValue { $0.feeds.removeAll() }
    for feed in feeds { feed.finish() }
    _ = await stopped()
  }

  /// Closes idle stores, until the task is cancelled.
  package func run() async {
    while (try? await clock.sleep(for: sweepInterval)) != nil {
      let outcome = state.withLockedValue { state in
        state.feeds.sweep()
        return state.stores.sweep()
      }
      settle(outcome)
    }
  }

  /// How many stores hold a slot: open, being opened or being closed.
  package nonisolated var openCount: Int { state.withLockedValue { $0.stores.openCount } }
  /// How many stores are in use.
  package nonisolated var leasedCount: Int { state.withLockedValue { $0.stores.leasedCount } }
  /// How many callers wait.
  package nonisolated var waitingCount: Int { state.withLockedValue { $0.stores.waitingCount } }
  /// How many feeds are kept.
  package nonisolated var feedCount: Int { state.withLockedValue { $0.feeds.count } }
}

extension DatabaseManager {
  /// Lends a store for as long as `use` runs, on the caller's own executor.
  ///
  /// Do not lease a store inside a lease of the same store: where the outer one stands in the way
  /// of an erasure, the inner one waits for it in vain.
  /// - Parameter creating: whether to make an absent store, durably, before `use` runs.
  /// - Parameter use: given nil when the store is absent and `creating` is false.
  /// - Throws: what `use` throws, and what opening throws: `damaged`, `unavailable` (no slot came free in time, the
  ///   task was cancelled, the service stops), `storage`, `storageFull`, `readOnly`.
  nonisolated(nonsending) package func withStore<Value>(
    _ name: StoreName, creating: Bool, _ use: (DocumentStore?) async throws -> Value
  ) async throws -> Value {
    let lease = try await lease(name, creating: creating)
    defer { release(lease) }
    return try await use(lease?.store)
  }

  /// Lends a store, making it if absent; see ``withStore(_:creating:_:)``.
  nonisolated(nonsending) package func withStore<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    try await withStore(name, creating: true) { store in
      guard let store else { throw ServiceError.notMade }
      return try await use(store)
    }
  }

  /// Lends a store that exists; see ``withStore(_:creating:_:)``.
  /// - Throws: besides, `absent`.
  nonisolated(nonsending) package func withExisting<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    try await withStore(name, creating: false) { store in
      guard let store else { throw ServiceError.absent }
      return try await use(store)
    }
  }

  /// Lends a store that exists to upkeep. One that nobody else has open is closed again at once, so that a walk over
  /// all stores takes no place from those that people come back to.
  /// - Parameter use: given nil when the store is absent.
  /// - Throws: as ``withStore(_:creating:_:)`` does.
  nonisolated(nonsending) package func visit<Value>(
    _ name: StoreName, _ use: (DocumentStore?) async throws -> Value
  ) async throws -> Value {
    let isLast = !isInUse(name)
    let lease = try await lease(name, creating: false)
    defer { release(lease, isLast: isLast) }
    return try await use(lease?.store)
  }

  /// Whether a store is open, about to be or waited for: somebody uses it, or has done so a moment ago.
  package nonisolated func isInUse(_ name: StoreName) -> Bool {
    state.withLockedValue { $0.stores.isInUse(name) }
  }

  /// Lends what a store is kept in, for its engine to look after: to copy it, to check it.
  /// - Parameter use: given nil when the store is absent.
  /// - Throws: what `use` throws, and as ``withStore(_:creating:_:)`` does.
  nonisolated(nonsending) package func withStorage<Value>(
    _ name: StoreName, _ use: ((any StoreStorage)?) async throws -> Value
  ) async throws -> Value {
    let lease = try await lease(name, creating: false)
    defer { release(lease) }
    return try await use(lease?.store.storage)
  }

  /// Works at a store's file while nobody has it open; whoever asks for the store meanwhile waits.
  /// - Parameter work: must not ask for the store.
  /// - Throws: what `work` throws; `unavailable` when the service stops.
  nonisolated(nonsending) package func withClosed<Value>(
    _ name: StoreName, _ work: () async throws -> Value
  ) async throws -> Value {
    switch await answer(to: .alone, for: name) {
    case .alone: break
    case .failed(let error): throw error
    case .leased, .absent, .erased, .stopped: throw ServiceError.stopping
    }
    defer {
      // Feeds of before would go on with numbers that mean other changes now.
      state.withLockedValue { $0.feeds.remove(name) }?.finish()
      settle(state.withLockedValue { $0.stores.erased(name, .success(true)) })
    }
    return try await work()
  }

  /// Takes a lease at once where the store is open, or waits for one; nil for an absent store.
  nonisolated(nonsending) private func lease(
    _ name: StoreName, creating: Bool
  ) async throws -> OpenStore? {
    if let open = state.withLockedValue({ $0.stores.lease(name) }) { return open }
    switch await answer(to: .lease(creating: creating), for: name) {
    case .leased(let open): return open
    case .absent: return nil
    case .failed(let error): throw error
    case .erased, .alone, .stopped: throw ServiceError.stopping
    }
  }

  /// - Parameter isLast: whether the store is to be closed as soon as nobody uses it.
  nonisolated private func release(_ lease: OpenStore?, isLast: Bool = false) {
    guard let lease else { return }
    let closes = isLast || lease.store.health.hasFailed
    settle(state.withLockedValue { $0.stores.release(lease.store.name, failed: closes) })
  }
}

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
        if !request.isAlone, !isCertain, isWaiting(ticket) { timer = expire(ticket, for: name) }
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
      await open.store.storage.close()
      settle(state.withLockedValue { $0.stores.closed(name) })
    case .erase(let name):
      state.withLockedValue { $0.feeds.remove(name) }?.finish()
      let result: Result<Bool, any Error>
      do { result = .success(try await engine.erase(name)) } catch { result = .failure(error) }
      settle(state.withLockedValue { $0.stores.erased(name, result) })
    case .replace(let name):
      let result: Result<Bool, any Error>
      do {
        try await replaceEmpty(name)
        state.withLockedValue { $0.feeds.remove(name) }?.finish()
        result = .success(true)
      } catch { result = .failure(error) }
      settle(state.withLockedValue { $0.stores.erased(name, result) })
    }
  }

  nonisolated private func open(
    _ name: StoreName, creating: Bool
  ) async -> Result<OpenStore?, any Error> {
    do {
      guard let storage = try await engine.open(name, creating: creating) else {
        return .success(nil)
      }
      let store = DocumentStore(
        name: name, storage: storage,
        feed: state.withLockedValue { $0.feeds.feed(for: name) }, limits: limits(name), now: now,
        follower: follower)
      return .success(OpenStore(store))
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

  nonisolated private func withdraw(_ ticket: UInt64, from name: StoreName, _ error: ServiceError) {
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
