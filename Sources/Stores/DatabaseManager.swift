package import Documents
import NIOConcurrencyHelpers
import Scheduling

/// Opens stores and lends them to callers.
///
/// A store is opened once, however many callers ask for it. It stays open while it is used and for some time
/// after. When all slots are taken, an unused store is closed, so that another one can be opened. A store is
/// never closed while it is leased.
///
/// The list of open stores is a value, ``OpenStores``, which a mutex protects. So the lease of an open store
/// takes two short critical sections and no change of threads. Opening, closing and erasing run in tasks of
/// their own: a caller that gives up does not cancel the work for other callers.
package final class DatabaseManager: Sendable {
  /// The highest number of stores that are open at once, also if the system allows more. They take about 120
  /// MiB, and up to half a MiB more for each store of which much is read or whose long histories are edited.
  package static let maximumOpenStores = 2_000

  let engine: any StorageEngine
  let limits: @Sendable (StoreName) -> StoreLimits
  let now: @Sendable () -> Timestamp
  let follower: CommitFollower
  let rooms: RoomGiver
  let clock: any Clock<Duration>
  let leaseWait: Duration
  let sweepInterval: Duration
  let state: NIOLockedValueBox<State>
  /// The readers of changes. They hold no lease, and lease a store for each page.
  package let subscriptions = Subscriptions()

  /// An open store. A class, so that a lease is one reference.
  final class OpenStore: Sendable {
    /// The store that a lease gives to its holder.
    let store: DocumentStore

    init(_ store: DocumentStore) { self.store = store }
  }

  /// All mutable state; a mutex protects it.
  struct State: Sendable {
    /// Which stores are open, and which callers wait for them.
    var stores: OpenStores<OpenStore>
    /// The continuations of the waiting callers, by ticket.
    var waiting: [UInt64: CheckedContinuation<OpenStores<OpenStore>.Answer, Never>] = [:]
    var filling: Set<StoreName> = []
    var lastTicket: UInt64 = 0
  }

  /// Creates a manager over an engine. No store is open.
  /// - Parameter maximumOpen: how many stores may be open at once, at least 1; see
  ///   ``maximumOpen(descriptorLimit:descriptorsPerStore:)``.
  /// - Parameter idleSeconds: after how much time without use ``run()`` closes a store; it may take up to
  ///   half of that time longer.
  /// - Parameter leaseWaitSeconds: how long a caller waits for a free slot, or until the lease of another
  ///   caller ends.
  /// - Parameter limits: the limits of each store.
  /// - Parameter now: the clock that gives documents their times.
  /// - Parameter follower: the rule that runs after commits to any store.
  /// - Parameter clock: the clock that measures waits.
  package init(
    engine: any StorageEngine, maximumOpen: Int, idleSeconds: Int = 60, leaseWaitSeconds: Int = 5,
    limits: @escaping @Sendable (StoreName) -> StoreLimits = { StoreLimits.standard(for: $0) },
    now: @escaping @Sendable () -> Timestamp, follower: CommitFollower = .none,
    rooms: RoomGiver = .none, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.engine = engine
    self.limits = limits
    self.now = now
    self.follower = follower
    self.rooms = rooms
    self.clock = clock
    leaseWait = .seconds(max(0, leaseWaitSeconds))
    sweepInterval = .seconds(max(1, idleSeconds)) / 2
    state = NIOLockedValueBox(State(stores: OpenStores(maximumOpen: maximumOpen)))
  }

  /// How many stores may be open. 512 descriptors, or half of the limit if that is less, stay free for
  /// connections.
  /// - Parameter descriptorLimit: the process's soft RLIMIT_NOFILE.
  /// - Returns: at least 4, at most ``maximumOpenStores``.
  package static func maximumOpen(descriptorLimit: Int, descriptorsPerStore: Int) -> Int {
    let limit = max(0, descriptorLimit)
    let free = limit - min(512, limit / 2)
    return max(4, min(maximumOpenStores, free / max(1, descriptorsPerStore)))
  }

  package func limits(of name: StoreName) -> StoreLimits { limits(name) }

  /// Checks that the disk has space for a guest, a user or a list that is not there yet.
  /// - Throws: `storageFull`.
  package func requireSpaceForNewcomers() throws {
    guard engine.hasSpaceForNewcomers else { throw ServiceError.noSpaceForNewcomers }
  }

  /// Erases a store: waits until it is not in use, tells its readers, closes it and erases it. A caller that asks
  /// for the store meanwhile waits; after that the store is absent, or the caller creates a new one.
  /// - Parameter isNoted: whether to record the erasure, so that an older backup does not bring the store
  ///   back. A store that is erased only because of its age needs no record: after a restore it is erased
  ///   again, unless the clock was wrong.
  /// - Returns: false when the store was absent.
  /// - Throws: what the engine throws; `unavailable` when the service stops or the task is cancelled.
  package func erase(_ name: StoreName, isNoted: Bool = true) async throws -> Bool {
    if isNoted { try await engine.noteErasure(of: name) }
    switch await answer(to: .erase, for: name) {
    case .erased(let wasThere): return wasThere
    case .failed(let error): throw error
    case .leased, .absent, .alone, .stopped: throw ServiceError.stopping
    }
  }

  /// Ends every subscription, refuses new leases, waits until all leases are given back, and closes every store. The
  /// engine stays open: its owner closes it afterwards.
  package func close() async {
    subscriptions.close()
    _ = await stopStores()
  }

  /// Closes idle stores, and tells the readers of stores that other processes change, until the task is cancelled.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.closeIdle() }
      guard engine.isShared else { return }
      group.addTask { for await change in self.engine.remoteChanges() { self.take(change) } }
      group.addTask { await self.findMissedChanges() }
    }
  }

  private func closeIdle() async {
    while (try? await clock.sleep(for: sweepInterval)) != nil {
      settle(state.withLockedValue { $0.stores.sweep() })
    }
  }

  /// How many stores have a slot: those that are open, being opened or being closed.
  package var openCount: Int { state.withLockedValue { $0.stores.openCount } }
  package var leasedCount: Int { state.withLockedValue { $0.stores.leasedCount } }
  package var waitingCount: Int { state.withLockedValue { $0.stores.waitingCount } }

  /// Leases a store while `use` runs, in the caller's own isolation.
  ///
  /// Do not lease a store again inside a lease of the same store: an erasure waits for the outer lease, and
  /// the inner lease waits for the erasure.
  /// - Parameter creating: whether to create an absent store, durably, before `use` runs.
  /// - Parameter use: gets nil when the store is absent and `creating` is false.
  /// - Throws: what `use` throws, and the errors of opening: `damaged`, `storage`, `storageFull`, `readOnly`,
  ///   `unavailable` (no slot became free in time, the task was cancelled, or the service stops).
  package func withStore<Value>(
    _ name: StoreName, creating: Bool, _ use: (DocumentStore?) async throws -> Value
  ) async throws -> Value {
    let lease = try await lease(name, creating: creating)
    defer { release(lease) }
    return try await use(lease?.store)
  }

  /// Leases a store, and creates it if it is absent; see ``withStore(_:creating:_:)``.
  package func withStore<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    try await withStore(name, creating: true) { store in
      guard let store else { throw ServiceError.notMade }
      return try await use(store)
    }
  }

  /// Leases a store that exists; see ``withStore(_:creating:_:)``.
  /// - Throws: also `absent`.
  package func withExisting<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    try await withStore(name, creating: false) { store in
      guard let store else { throw ServiceError.absent }
      return try await use(store)
    }
  }

  /// Leases a store for background work. If the store was not in use before, it is closed as soon as no caller
  /// uses it, so that a walk over all stores does not take slots from stores that clients use again.
  /// - Parameter use: gets nil when the store is absent.
  /// - Throws: the errors of ``withStore(_:creating:_:)``.
  package func visit<Value>(
    _ name: StoreName, _ use: (DocumentStore?) async throws -> Value
  ) async throws -> Value {
    let isLast = !isInUse(name)
    let lease = try await lease(name, creating: false)
    defer { release(lease, isLast: isLast) }
    return try await use(lease?.store)
  }

  /// Whether a store is open, is being opened, or has waiting callers: a caller uses it now or used it a
  /// short time ago.
  package func isInUse(_ name: StoreName) -> Bool {
    state.withLockedValue { $0.stores.isInUse(name) }
  }

  /// Leases a store's storage, so that its engine can copy or check it.
  /// - Parameter use: gets nil when the store is absent.
  /// - Throws: what `use` throws, and the errors of ``withStore(_:creating:_:)``.
  package func withStorage<Value>(
    _ name: StoreName, _ use: ((any StoreStorage)?) async throws -> Value
  ) async throws -> Value {
    try await withStore(name, creating: false) { store in try await use(store?.storage) }
  }

  /// Runs `work` on a store's file while the store is closed. A caller that asks for the store meanwhile
  /// waits.
  /// - Parameter work: must not ask for the store.
  /// - Throws: what `work` throws; `unavailable` when the service stops.
  package func withClosed<Value>(
    _ name: StoreName, _ work: () async throws -> Value
  ) async throws -> Value {
    switch await answer(to: .alone, for: name) {
    case .alone: break
    case .failed(let error): throw error
    case .leased, .absent, .erased, .stopped: throw ServiceError.stopping
    }
    defer {
      // The sequence numbers of a reader mean other changes now.
      subscriptions.end(name)
      settle(state.withLockedValue { $0.stores.didUseAlone(name) })
    }
    return try await work()
  }

  /// Leases an open store at once, or waits for a lease; nil for an absent store.
  private func lease(_ name: StoreName, creating: Bool) async throws -> OpenStore? {
    if let open = state.withLockedValue({ $0.stores.lease(name) }) { return open }
    switch await answer(to: .lease(creating: creating), for: name) {
    case .leased(let open): return open
    case .absent: return nil
    case .failed(let error): throw error
    case .erased, .alone, .stopped: throw ServiceError.stopping
    }
  }

  /// - Parameter isLast: whether the store is to be closed as soon as it is not in use.
  private func release(_ lease: OpenStore?, isLast: Bool = false) {
    guard let lease else { return }
    let closes = isLast || lease.store.health.hasFailed || lease.store.storage.isEnded
    settle(state.withLockedValue { $0.stores.release(lease.store.name, failed: closes) })
  }

  typealias Stores = OpenStores<OpenStore>

  /// Adds a request to a store's queue and waits for the answer. A task that is cancelled leaves the queue.
  func answer(to request: Stores.Request, for name: StoreName) async -> Stores.Answer {
    let ticket = drawTicket()
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await Scheduling.Work.waiting {
        await withCheckedContinuation { continuation in
          let (outcome, isCertain) = state.withLockedValue { state in
            state.waiting[ticket] = continuation
            let outcome = state.stores.ask(request, for: name, as: ticket)
            return (outcome, state.stores.isCertain(ticket, for: name))
          }
          settle(outcome)
          // If the task was cancelled before, the cancellation handler has run before the ticket was in the
          // queue.
          if Task.isCancelled { withdraw(ticket, from: name, .withdrawn) }
          if !request.isAlone, !isCertain, isWaiting(ticket) { timer = expire(ticket, for: name) }
        }
      }
    } onCancel: {
      withdraw(ticket, from: name, .withdrawn)
    }
  }

  /// Waits until every store is closed. It can't be cancelled, because closing protects data.
  func stopStores() async -> Stores.Answer {
    let ticket = drawTicket()
    return await withCheckedContinuation { continuation in
      settle(
        state.withLockedValue { state in
          state.waiting[ticket] = continuation
          return state.stores.stop(as: ticket)
        })
    }
  }

  /// Resumes callers with their answers and starts work. Never called while the mutex is held.
  func settle(_ outcome: Stores.Outcome) {
    for (ticket, answer) in outcome.answers {
      let continuation = state.withLockedValue { $0.waiting.removeValue(forKey: ticket) }
      continuation?.resume(returning: answer)
    }
    for work in outcome.work { _ = Scheduling.Work.shared { await self.perform(work) } }
  }

  private func perform(_ work: Stores.Work) async {
    switch work {
    case .open(let name, let creating):
      let result = await open(name, creating: creating)
      settle(state.withLockedValue { $0.stores.didOpen(name, result) })
    case .close(let name, let open):
      await open.store.storage.close()
      settle(state.withLockedValue { $0.stores.didClose(name) })
    case .erase(let name):
      let result: Result<Bool, any Error>
      do { result = .success(try await engine.erase(name)) } catch { result = .failure(error) }
      subscriptions.end(name)
      settle(state.withLockedValue { $0.stores.didErase(name, result) })
    }
  }

  private func open(_ name: StoreName, creating: Bool) async -> Result<OpenStore?, any Error> {
    do {
      guard let storage = try await engine.open(name, creating: creating) else {
        return .success(nil)
      }
      let store = DocumentStore(
        name: name, storage: storage,
        subscriptions: subscriptions, limits: limits(name), now: now, follower: follower,
        room: room(of: name))
      if await store.followBacklog() {
        _ = Scheduling.Work.shared { await self.followBacklog(of: name) }
      }
      return .success(OpenStore(store))
    } catch { return .failure(error) }
  }

  private func followBacklog(of name: StoreName) async {
    while (try? await visit(name, { await $0?.followBacklog() ?? false })) == true {
      guard (try? await Slice.giveWay()) != nil else { return }
    }
  }

  private func room(of name: StoreName) -> StoreRoom? {
    guard rooms.concerns(name) else { return nil }
    return StoreRoom(give: { [rooms] bytes in try await rooms.give(self, name, bytes) })
  }

  private func drawTicket() -> UInt64 {
    state.withLockedValue { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  private func isWaiting(_ ticket: UInt64) -> Bool {
    state.withLockedValue { $0.waiting[ticket] != nil }
  }

  private func withdraw(_ ticket: UInt64, from name: StoreName, _ error: ServiceError) {
    settle(state.withLockedValue { $0.stores.withdraw(ticket, for: name, error) })
  }

  /// Removes a caller from the queue after the longest wait, unless its store is being opened.
  private func expire(_ ticket: UInt64, for name: StoreName) -> Task<Void, Never> {
    Task { [clock, leaseWait] in
      guard (try? await clock.sleep(for: leaseWait)) != nil else { return }
      let outcome = state.withLockedValue { state in
        guard !state.stores.isCertain(ticket, for: name) else { return Stores.Outcome() }
        return state.stores.withdraw(ticket, for: name, .crowded)
      }
      settle(outcome)
    }
  }

  /// The server's own id, which stays the same as long as its data exist. PouchDB uses it in the ids of its
  /// checkpoints, and so do this server's replications. It comes from the system store, which the first question makes.
  /// - Returns: nil while nothing can be written and there is no such store yet.
  package func serverID() async throws -> String? {
    do {
      return try await withStore(.system) { store in
        let epoch = try await store.readInline { view in try view.info().firstEpoch }
        return Hex.digest(of: "server " + epoch, digits: 32)
      }
    } catch let error as ServiceError where [.storageFull, .readOnly].contains(error.code) {
      return nil
    }
  }
}
