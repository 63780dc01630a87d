import Accounts
import IPAddresses
import ServiceLifecycle
import Stores
import Synchronization

/// All answers of `_changes` that a server is writing and that wait or are longer than a page.
///
/// An answer that waits costs its connection and little more: one task a store takes the store's wake-ups,
/// and two tasks for the whole server look at the clock and at permissions while anybody is there.
final class CouchFeeds: Sendable {
  /// Feeds of one principal that wait at once.
  static let perPrincipal = 256
  /// Feeds from one address that wait at once, those of users and of the administrator apart: whoever likes can be
  /// many guests.
  static let perAddress = 1_024
  /// Feeds that wait at once.
  static let total = 10_000
  /// How exact waits are.
  private static let tick = Duration.milliseconds(100)
  /// How often permissions are looked at, so that one that ended is not used for a second.
  private static let checkInterval = Duration.milliseconds(500)

  private let stores: DatabaseManager
  private let state = Mutex(State())

  /// The readers of one store, and who wakes them.
  private struct Line {
    /// Tells who reads the store's changes for it.
    var number: UInt64 = 0
    var signals: [ObjectIdentifier: CouchFeedSignal] = [:]
    /// Nil while nobody reads them: at first, and once the store is gone. A store of that name that is made anew
    /// has changes of its own, whoever still lingers in the line.
    var wakeUps: Task<Void, Never>?
  }

  private struct State {
    var lines: [StoreName: Line] = [:]
    var waiting = CouchFeedCounts()
    /// Everybody in all lines, until somebody comes or goes.
    var everybody: [CouchFeedSignal]?
    var lastNumber: UInt64 = 0
    var isTicking = false
    var isChecking = false
  }

  /// No feeds.
  init(stores: DatabaseManager) { self.stores = stores }

  /// Takes a place.
  /// - Throws: 429 when so many of the reader's wait, or from the reader's address, that another is refused.
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

  /// Wakes an observer for one more store, as long as it keeps its place.
  func follow(_ store: StoreName, _ signal: CouchFeedSignal) async {
    let changes = await stores.feed(for: store)
    state.withLock { state in
      guard state.lines[signal.reader.store]?.signals[ObjectIdentifier(signal)] != nil else {
        return
      }
      put(signal, store, changes, &state)
    }
  }

  /// Wakes an observer for a store no longer.
  func unfollow(_ store: StoreName, _ signal: CouchFeedSignal) {
    state.withLock { state in _ = take(signal, store, &state) }
  }

  /// Gives a place back; once more does nothing.
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

  /// - Returns: whether the signal was in the store's line.
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

  // What wakes the writers.

  private func wakeUps(
    of changes: ChangeFeed, for store: StoreName, _ number: UInt64
  ) -> Task<Void, Never> {
    Task { [weak self] in
      for await _ in changes.wakeUps() {
        self?.signals(store, number).forEach { $0.change(in: store) }
      }
      // Nobody is in the line any more when it was given up; otherwise the store is gone.
      self?.takeOver(store, number).forEach { $0.lose(store) }
    }
  }

  private func signals(_ store: StoreName, _ number: UInt64) -> [CouchFeedSignal] {
    state.withLock { state in
      guard let line = state.lines[store], line.number == number else { return [] }
      return Array(line.signals.values)
    }
  }

  /// Gives the line of a store that is gone to whoever comes next.
  /// - Returns: who was in it.
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

  /// Everybody; nil when nobody is there, so that the task that asks ends.
  private func everybody(_ isRunning: WritableKeyPath<State, Bool>) -> [CouchFeedSignal]? {
    state.withLock { state in
      guard !state.lines.isEmpty else {
        state[keyPath: isRunning] = false
        return nil
      }
      let everybody =
        state.everybody
        ?? state.lines.flatMap { store, line in
          // An observer stands in several lines, and counts in its own store's.
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

/// How many feeds wait, all of them and by whom they are: never by store, which one reader could fill for others.
struct CouchFeedCounts {
  /// All.
  private(set) var total = 0
  private var byPrincipal: [String: Int] = [:]
  private var byAddress: [ClientAddress: Int] = [:]

  /// Counts a reader if there is room; ``leave(_:)`` has to follow then.
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

  /// Takes a reader that was counted out again.
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

/// A place among a server's feeds, held for as long as an answer is written. An answer whose body is never
/// written, as that of a `HEAD`, gives it back when it is forgotten.
final class CouchFeedPlace: Sendable {
  /// Wakes the writer.
  let signal: CouchFeedSignal
  private let feeds: CouchFeeds

  /// A place that ``CouchFeeds/enter(_:)`` gave.
  init(_ signal: CouchFeedSignal, in feeds: CouchFeeds) {
    self.signal = signal
    self.feeds = feeds
  }

  deinit { feeds.leave(signal) }

  /// Wakes an observer for one more store.
  func follow(_ store: StoreName) async { await feeds.follow(store, signal) }

  /// Wakes an observer for a store no longer.
  func unfollow(_ store: StoreName) { feeds.unfollow(store, signal) }

  /// Gives the place back.
  func leave() { feeds.leave(signal) }
}

/// Who reads an answer of `_changes` that takes its time.
struct CouchFeedReader: Sendable {
  /// Which store is read.
  let store: StoreName
  /// Whether the answer waits for changes; otherwise it is only longer than a page.
  let waits: Bool
  /// Whether it reads several stores, of which ``store`` is the reader's own.
  var observes = false
  /// What stands for the reader, whichever proof they show: whose feeds these count among.
  let principal: String
  /// Where a guest reads from; nil for a user and the administrator, who count for themselves wherever they are.
  let address: ClientAddress?
  /// What stands for the permission: readers with the same text are asked for once.
  let permission: String
  /// Says whether the store may still be read. What it throws counts as no.
  let mayRead: @Sendable () async throws -> Bool
  /// Closes the connection.
  let hangUp: @Sendable () -> Void
}
