import Accounts
import IPAddresses
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
  /// The limit of waiting feeds of guests from one address, because one person can be many guests. Feeds of users and
  /// of the administrator don't count here.
  static let perAddress = 1_024
  /// The limit of waiting feeds.
  static let total = 10_000
  /// The precision of waits.
  private static let tick = Duration.milliseconds(100)
  /// How often permissions are checked. One that has ended is used for less than a second.
  private static let checkInterval = Duration.milliseconds(500)

  private let stores: DatabaseManager
  private let state = Mutex(State())

  /// The readers of one store, and the task that wakes them.
  private struct Line {
    /// Identifies the present task.
    var number: UInt64 = 0
    var signals: [ObjectIdentifier: CouchFeedSignal] = [:]
    /// Nil at first, and once the store is gone. A new store of that name has its own changes and needs a new task,
    /// even while readers of the old one remain.
    var wakeUps: Task<Void, Never>?
  }

  private struct State {
    var lines: [StoreName: Line] = [:]
    var waiting = CouchFeedCounts()
    /// All readers, until one is added or removed.
    var everybody: [CouchFeedSignal]?
    var lastNumber: UInt64 = 0
    var isTicking = false
    var isChecking = false
  }

  /// A collection without feeds.
  init(stores: DatabaseManager) { self.stores = stores }

  /// Adds a feed.
  /// - Throws: 429 if the reader, or the reader's address, has too many waiting feeds.
  func enter(_ reader: CouchFeedReader) async throws -> CouchFeedPlace {
    let changes = await stores.feed(for: reader.store)
    let signal = CouchFeedSignal(reader)
    let isIn = state.withLock { state in
      guard !reader.waits || state.waiting.enter(reader) else { return false }
      put(signal, reader.store, changes, &state)
      startClocks(&state)
      return true
    }
    guard isIn else {
      throw ServiceError(
        .tooManyRequests,
        "At most \(Self.perPrincipal) of your feeds may wait at once, and \(Self.perAddress) of guests from one "
          + "address")
    }
    return CouchFeedPlace(signal, in: self)
  }

  /// Wakes an observer for one more store, as long as its feed exists.
  func follow(_ store: StoreName, _ signal: CouchFeedSignal) async {
    let changes = await stores.feed(for: store)
    state.withLock { state in
      guard state.lines[signal.reader.store]?.signals[ObjectIdentifier(signal)] != nil else {
        return
      }
      put(signal, store, changes, &state)
    }
  }

  /// Stops waking an observer for a store.
  func unfollow(_ store: StoreName, _ signal: CouchFeedSignal) {
    state.withLock { state in _ = take(signal, store, &state) }
  }

  /// Removes a feed; a second call does nothing.
  func leave(_ signal: CouchFeedSignal) {
    state.withLock { state in
      guard take(signal, signal.reader.store, &state) else { return }
      if signal.reader.waits { state.waiting.leave(signal.reader) }
      guard signal.reader.observes else { return }
      for store in Array(state.lines.keys) { _ = take(signal, store, &state) }
    }
  }

  private func put(
    _ signal: CouchFeedSignal, _ store: StoreName, _ changes: ChangeFeed, _ state: inout State
  ) {
    var line = state.lines[store] ?? Line()
    if line.wakeUps == nil {
      state.lastNumber += 1
      line.number = state.lastNumber
      line.wakeUps = wakeUps(of: changes, for: store, line.number)
    }
    line.signals[ObjectIdentifier(signal)] = signal
    state.lines[store] = line
    state.everybody = nil
  }

  /// - Returns: whether the signal was among the store's readers.
  private func take(
    _ signal: CouchFeedSignal, _ store: StoreName, _ state: inout State
  ) -> Bool {
    guard state.lines[store]?.signals.removeValue(forKey: ObjectIdentifier(signal)) != nil
    else { return false }
    state.everybody = nil
    if let line = state.lines[store], line.signals.isEmpty {
      line.wakeUps?.cancel()
      state.lines[store] = nil
    }
    return true
  }

  /// How many answers are being written.
  var count: Int {
    state.withLock { state in
      state.lines.reduce(0) { sum, line in
        sum + line.value.signals.values.count { $0.reader.store == line.key }
      }
    }
  }

  /// How many of them wait for changes.
  var waitingCount: Int { state.withLock { $0.waiting.total } }

  // MARK: Wake-ups

  private func wakeUps(
    of changes: ChangeFeed, for store: StoreName, _ number: UInt64
  ) -> Task<Void, Never> {
    Task { [weak self] in
      for await _ in changes.wakeUps() {
        self?.signals(store, number).forEach { $0.change(in: store) }
      }
      // Either the last reader left and cancelled this task, or the store is gone.
      self?.takeOver(store, number).forEach { $0.lose(store) }
    }
  }

  private func signals(_ store: StoreName, _ number: UInt64) -> [CouchFeedSignal] {
    state.withLock { state in
      guard let line = state.lines[store], line.number == number else { return [] }
      return Array(line.signals.values)
    }
  }

  /// Notes that a store is gone, so that the next reader starts a new task.
  /// - Returns: the readers of the store.
  private func takeOver(_ store: StoreName, _ number: UInt64) -> [CouchFeedSignal] {
    state.withLock { state in
      guard let line = state.lines[store], line.number == number else { return [] }
      state.lines[store]?.wakeUps = nil
      return Array(line.signals.values)
    }
  }

  private func startClocks(_ state: inout State) {
    if !state.isTicking {
      state.isTicking = true
      Task { await runTicks() }
    }
    if !state.isChecking {
      state.isChecking = true
      Task { await runChecks() }
    }
  }

  /// All readers; nil if there are none, so that the calling task ends.
  private func everybody(_ isRunning: WritableKeyPath<State, Bool>) -> [CouchFeedSignal]? {
    state.withLock { state in
      guard !state.lines.isEmpty else {
        state[keyPath: isRunning] = false
        return nil
      }
      let everybody =
        state.everybody
        ?? state.lines.flatMap { store, line in
          // An observer reads several stores, and counts only for its own.
          line.signals.values.filter { $0.reader.store == store }
        }
      state.everybody = everybody
      return everybody
    }
  }

  private func runTicks() async {
    while let signals = everybody(\.isTicking) {
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
    while let signals = everybody(\.isChecking) {
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

/// The number of waiting feeds: of all, of each principal and of each address. They are not counted per store, because
/// one reader could then exclude the others.
struct CouchFeedCounts {
  /// The number of all waiting feeds.
  private(set) var total = 0
  private var byPrincipal: [String: Int] = [:]
  private var byAddress: [ClientAddress: Int] = [:]

  /// Counts a reader if the limits allow it; then call ``leave(_:)`` at its end.
  mutating func enter(_ reader: CouchFeedReader) -> Bool {
    guard total < CouchFeeds.total,
      byPrincipal[reader.principal, default: 0] < CouchFeeds.perPrincipal
    else { return false }
    if let address = reader.address {
      guard byAddress[address, default: 0] < CouchFeeds.perAddress else { return false }
      byAddress[address, default: 0] += 1
    }
    byPrincipal[reader.principal, default: 0] += 1
    total += 1
    return true
  }

  /// Removes a counted reader.
  mutating func leave(_ reader: CouchFeedReader) {
    total -= 1
    if let count = byPrincipal[reader.principal] {
      byPrincipal[reader.principal] = count > 1 ? count - 1 : nil
    }
    if let address = reader.address, let count = byAddress[address] {
      byAddress[address] = count > 1 ? count - 1 : nil
    }
  }
}

/// A feed's slot, held while its answer is written. If the body is never written, as for `HEAD`, the slot is given back
/// when this object is deallocated.
final class CouchFeedPlace: Sendable {
  /// Wakes the writer.
  let signal: CouchFeedSignal
  private let feeds: CouchFeeds

  /// The slot of a signal that ``CouchFeeds/enter(_:)`` has added.
  init(_ signal: CouchFeedSignal, in feeds: CouchFeeds) {
    self.signal = signal
    self.feeds = feeds
  }

  deinit { feeds.leave(signal) }

  /// Wakes an observer for one more store.
  func follow(_ store: StoreName) async { await feeds.follow(store, signal) }

  /// Stops waking an observer for a store.
  func unfollow(_ store: StoreName) { feeds.unfollow(store, signal) }

  /// Gives the slot back.
  func leave() { feeds.leave(signal) }
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
  /// The address of a guest; nil for a user and the administrator, who are counted by principal only.
  let address: ClientAddress?
  /// Identifies the permission; readers with the same text are checked once.
  let permission: String
  /// Whether the store may still be read. An error counts as no.
  let mayRead: @Sendable () async throws -> Bool
  /// Closes the connection.
  let hangUp: @Sendable () -> Void
}
