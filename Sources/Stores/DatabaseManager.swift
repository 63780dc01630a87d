package import Documents
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
