import Accounts
import HTTPServer
import IPAddresses
import NIOCore
import Scheduling
import ServiceLifecycle
import Stores
import Synchronization

/// All answers of `_changes` that are being written and that wait or are longer than a page.
///
/// A waiting answer costs little more than its connection. One task per store receives the store's wake-ups. Two tasks
/// for the whole server check the time and the permissions while there is any feed.
final class CouchFeeds: Sendable {
  /// The limit of waiting feeds of one principal.
  static let perPrincipal = 256
  /// The limit of waiting feeds from one address, because one person can be many guests and users. The administrator's
  /// don't count here.
  static let perAddress = 2_500
  /// The limit of waiting feeds.
  static let total = 10_000
  /// The precision of waits.
  private static let tick = Duration.milliseconds(100)
  /// How often permissions are checked. One that has ended is used for less than a second.
  private static let checkInterval = Duration.milliseconds(500)

  private let stores: DatabaseManager
  private let confirmProofs: @Sendable () async -> Void
  private let state = Mutex(State())

  /// The readers of one store, and the task that wakes them.
  private struct StoreReaders {
    /// Identifies the present task.
    var number: UInt64 = 0
    var signals: [ObjectIdentifier: CouchFeedSignal] = [:]
    /// Nil at first, and once the store is gone. A new store of that name has its own changes and needs a new task,
    /// even while readers of the old one remain.
    var wakeUps: Task<Void, Never>?
  }

  private struct State {
    var readers: [StoreName: StoreReaders] = [:]
    var waiting = Places<CouchFeedSignal>(
      .init(total: total, perAddress: perAddress, perPrincipal: perPrincipal))
    /// All readers, until one is added or removed.
    var allSignals: [CouchFeedSignal]?
    var lastNumber: UInt64 = 0
    var isTicking = false
    var isChecking = false
  }

  /// A collection without feeds.
  /// - Parameter confirmProofs: is called before all permissions are checked.
  init(stores: DatabaseManager, confirmProofs: @escaping @Sendable () async -> Void = {}) {
    self.stores = stores
    self.confirmProofs = confirmProofs
  }

  /// Adds a feed.
  /// - Throws: 429 if the reader, or the reader's address, has too many waiting feeds, and if all places are taken and no
  ///   address has more of them.
  func add(_ reader: CouchFeedReader) async throws -> CouchFeedRegistration {
    let changes = stores.feed(for: reader.store)
    let signal = CouchFeedSignal(reader)
    let decision = state.withLock { state in
      let decision: Places<CouchFeedSignal>.Decision =
        reader.waits
        ? state.waiting.take(signal, from: reader.address, as: reader.principal)
        : .taken(displaced: nil)
      if case .taken = decision {
        insert(signal, reader.store, changes, &state)
        startClocks(&state)
      }
      return decision
    }
    guard case .taken(let displaced) = decision else {
      throw ServiceError(
        .tooManyRequests,
        "At most \(Self.perPrincipal) of your feeds may wait at once, \(Self.perAddress) from one address, and "
          + "\(Self.total) in all, of which most addresses have fewer")
    }
    displaced?.end(.displaced)
    return CouchFeedRegistration(signal, in: self)
  }

  /// Wakes an observer for one more store, as long as its feed exists.
  func follow(_ store: StoreName, _ signal: CouchFeedSignal) async {
    let changes = stores.feed(for: store)
    state.withLock { state in
      guard state.readers[signal.reader.store]?.signals[ObjectIdentifier(signal)] != nil else {
        return
      }
      insert(signal, store, changes, &state)
    }
  }

  /// Stops waking an observer for a store.
  func unfollow(_ store: StoreName, _ signal: CouchFeedSignal) {
    state.withLock { state in _ = remove(signal, store, &state) }
  }

  /// Removes a feed; a second call does nothing.
  func remove(_ signal: CouchFeedSignal) {
    state.withLock { state in
      guard remove(signal, signal.reader.store, &state) else { return }
      state.waiting.give(signal)
      guard signal.reader.observes else { return }
      for store in Array(state.readers.keys) { _ = remove(signal, store, &state) }
    }
  }

  private func insert(
    _ signal: CouchFeedSignal, _ store: StoreName, _ changes: ChangeFeed, _ state: inout State
  ) {
    var readers = state.readers[store] ?? StoreReaders()
    if readers.wakeUps == nil {
      state.lastNumber += 1
      readers.number = state.lastNumber
      readers.wakeUps = wakeUps(of: changes, for: store, readers.number)
    }
    readers.signals[ObjectIdentifier(signal)] = signal
    state.readers[store] = readers
    state.allSignals = nil
  }

  /// - Returns: whether the signal was among the store's readers.
  private func remove(
    _ signal: CouchFeedSignal, _ store: StoreName, _ state: inout State
  ) -> Bool {
    guard state.readers[store]?.signals.removeValue(forKey: ObjectIdentifier(signal)) != nil
    else { return false }
    state.allSignals = nil
    if let readers = state.readers[store], readers.signals.isEmpty {
      readers.wakeUps?.cancel()
      state.readers[store] = nil
    }
    return true
  }

  /// How many answers are being written.
  var count: Int {
    state.withLock { state in
      state.readers.reduce(0) { sum, entry in
        sum + entry.value.signals.values.count { $0.reader.store == entry.key }
      }
    }
  }

  /// How many of them wait for changes.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  // MARK: Wake-ups

  private func wakeUps(
    of changes: ChangeFeed, for store: StoreName, _ number: UInt64
  ) -> Task<Void, Never> {
    Work.background { [weak self] in
      for await _ in changes.wakeUps() {
        self?.signals(store, number).forEach { $0.change(in: store) }
      }
      // Either the last reader left and cancelled this task, or the store is gone.
      self?.forgetTask(store, number).forEach { $0.lose(store) }
    }
  }

  private func signals(_ store: StoreName, _ number: UInt64) -> [CouchFeedSignal] {
    state.withLock { state in
      guard let readers = state.readers[store], readers.number == number else { return [] }
      return Array(readers.signals.values)
    }
  }

  /// Notes that a store is gone, so that the next reader starts a new task.
  /// - Returns: the readers of the store.
  private func forgetTask(_ store: StoreName, _ number: UInt64) -> [CouchFeedSignal] {
    state.withLock { state in
      guard let readers = state.readers[store], readers.number == number else { return [] }
      state.readers[store]?.wakeUps = nil
      return Array(readers.signals.values)
    }
  }

  private func startClocks(_ state: inout State) {
    if !state.isTicking {
      state.isTicking = true
      Work.background { await self.runTicks() }
    }
    if !state.isChecking {
      state.isChecking = true
      Work.background { await self.runChecks() }
    }
  }

  /// All readers; nil if there are none, so that the calling task ends.
  private func allSignals(_ isRunning: WritableKeyPath<State, Bool>) -> [CouchFeedSignal]? {
    state.withLock { state in
      guard !state.readers.isEmpty else {
        state[keyPath: isRunning] = false
        return nil
      }
      let allSignals =
        state.allSignals
        ?? state.readers.flatMap { store, readers in
          // An observer reads several stores, and counts only for its own.
          readers.signals.values.filter { $0.reader.store == store }
        }
      state.allSignals = allSignals
      return allSignals
    }
  }

  private func runTicks() async {
    while let signals = allSignals(\.isTicking) {
      let now = ContinuousClock.now
      let isStopping = Task.isShuttingDownGracefully
      for signal in signals {
        if isStopping, signal.reader.waits { signal.end(.stopping) }
        signal.tick(now)
      }
      try? await Task.sleep(for: Self.tick)
    }
  }

  private func runChecks() async {
    while let signals = allSignals(\.isChecking) {
      await confirmProofs()
      var answers: [String: Bool] = [:]
      for signal in signals {
        let permission = signal.reader.permission
        let isGood: Bool
        if let known = answers[permission] {
          isGood = known
        } else {
          isGood = (try? await signal.reader.mayRead()) ?? false
          answers[permission] = isGood
        }
        if !isGood { signal.end(.notAllowed) }
      }
      try? await Task.sleep(for: Self.checkInterval)
    }
  }
}

/// A feed's slot, held while its answer is written. If the body is never written, as for `HEAD`, the slot is given back
/// when this object is deallocated.
final class CouchFeedRegistration: Sendable {
  /// Wakes the writer.
  let signal: CouchFeedSignal
  private let feeds: CouchFeeds

  /// The slot of a signal that ``CouchFeeds/add(_:)`` has added.
  init(_ signal: CouchFeedSignal, in feeds: CouchFeeds) {
    self.signal = signal
    self.feeds = feeds
  }

  deinit { feeds.remove(signal) }

  /// Wakes an observer for one more store.
  func follow(_ store: StoreName) async { await feeds.follow(store, signal) }

  /// Stops waking an observer for a store.
  func unfollow(_ store: StoreName) { feeds.unfollow(store, signal) }

  /// Gives the slot back.
  func cancel() { feeds.remove(signal) }
}

/// The reader of a `_changes` answer that waits or is longer than a page.
struct CouchFeedReader: Sendable {
  /// The store that is read.
  let store: StoreName
  /// Whether the answer waits for changes. If not, it is only longer than a page.
  let waits: Bool
  /// Whether it reads several stores; ``store`` is then the reader's own.
  var observes = false
  /// Identifies the reader, whatever the credentials; feeds are counted by it.
  let principal: String
  /// The address of a guest or a user; nil for the administrator, who is counted by principal only.
  let address: ClientAddress?
  /// Identifies the permission; readers with the same text are checked once.
  let permission: String
  /// Whether the store may still be read. An error counts as no.
  let mayRead: @Sendable () async throws -> Bool
  /// Closes the connection.
  let closeConnection: @Sendable () -> Void
}

extension CouchFeedReader {
  /// The reader of a long answer.
  /// - Parameter waits: whether the answer waits for changes.
  init(_ call: Call, _ store: CouchStore, waits: Bool) {
    let channel = call.context.channel
    self.init(
      store: store.name, waits: waits,
      principal: store.principal, address: store.isAdministrators ? nil : call.address,
      permission: store.permission,
      mayRead: { try await store.isStillAllowed() },
      closeConnection: { channel.close(promise: nil) })
  }
}
