import DequeModule

/// Which stores are open, who uses them and who waits: a value without I/O. It says what is to be
/// opened, closed and erased; ``DatabaseManager`` does it and reports back.
///
/// Rules: a name is open once at most; at most ``maximumOpen`` stores hold a slot, a slot being
/// free again only when its store is closed; a leased store is never closed; the store that was
/// idle longest goes first; callers of one store are served in the order of asking, and so are
/// stores that wait for a slot.
struct OpenStores<Store: Sendable>: Sendable {
  /// How many stores may be open at once, those that open and close counted.
  let maximumOpen: Int
  /// How many slots are taken.
  var openCount = 0
  /// How many of them are about to come free.
  var closingCount = 0
  /// Every store that is open, in transition or waited for.
  var entries: [StoreName: Entry] = [:]
  /// Stores that wait for a slot.
  var line = Deque<StoreName>()
  /// Idle stores, the one longest idle first; entries whose store was used since are stale.
  var idle = Deque<(name: StoreName, use: UInt64)>()
  private var uses: UInt64 = 0
  private var sweeps: UInt64 = 0
  private var isStopping = false
  private var stoppers: [Ticket] = []

  /// No store is open.
  init(maximumOpen: Int) { self.maximumOpen = max(1, maximumOpen) }

  /// How many stores are in use.
  var leasedCount: Int { entries.values.count { $0.leases > 0 } }
  /// How many callers wait.
  var waitingCount: Int { entries.values.reduce(0) { $0 + $1.queue.count } }

  /// Leases a store that is open already; nil when the caller has to ``ask(_:for:as:)``.
  mutating func lease(_ name: StoreName) -> Store? {
    guard !isStopping, let place = entries.index(forKey: name) else { return nil }
    return entries.values[place].lease()
  }

  /// Whether a store is open, about to be or waited for.
  func isInUse(_ name: StoreName) -> Bool {
    guard let entry = entries[name] else { return false }
    if case .closing = entry.phase { return !entry.queue.isEmpty }
    return true
  }

  /// Puts a caller in a store's line.
  mutating func ask(_ request: Request, for name: StoreName, as ticket: Ticket) -> Outcome {
    var outcome = Outcome()
    guard !isStopping else {
      outcome.answers.append((ticket, .failed(ServiceError.stopping)))
      return outcome
    }
    entries[name, default: Entry()].queue.append(Waiter(ticket: ticket, request: request))
    advance(name, &outcome)
    return outcome
  }

  /// Takes a caller out of the line and answers with `error`; nothing if its answer was given
  /// before.
  mutating func withdraw(_ ticket: Ticket, for name: StoreName, _ error: ServiceError) -> Outcome {
    var outcome = Outcome()
    guard let place = entries[name]?.queue.firstIndex(where: { $0.ticket == ticket }) else {
      return outcome
    }
    entries[name]?.queue.remove(at: place)
    outcome.answers.append((ticket, .failed(error)))
    advance(name, &outcome)
    return outcome
  }

  /// Whether a caller waits for nothing but the opening that is under way.
  func isCertain(_ ticket: Ticket, for name: StoreName) -> Bool {
    entries[name]?.isCertain(ticket) ?? false
  }

  /// Gives a lease back.
  /// - Parameter failed: whether the store must be closed, and read from disk again by the next who asks for it.
  mutating func release(_ name: StoreName, failed: Bool) -> Outcome {
    var outcome = Outcome()
    guard let place = entries.index(forKey: name), entries.values[place].leases > 0 else {
      return outcome
    }
    entries.values[place].leases -= 1
    if failed { entries.values[place].isSuspect = true }
    guard entries.values[place].leases == 0 else { return outcome }
    if !isStopping, line.isEmpty, entries.values[place].canRest {
      // Nobody waits for anything: so it is nearly always.
      rest(name, at: place)
    } else {
      advance(name, &outcome)
    }
    return outcome
  }

  /// The engine has opened a store, found it absent or failed.
  mutating func opened(_ name: StoreName, _ result: Result<Store?, any Error>) -> Outcome {
    var outcome = Outcome()
    guard case .opening(let creating)? = entries[name]?.phase else { return outcome }
    switch result {
    case .success(let store?):
      entries[name]?.phase = .open(store)
    case .success(nil) where !creating:
      answerLeases(of: name, .absent, while: { $0 == .lease(creating: false) }, &outcome)
      if entries[name]?.queue.first?.request == .lease(creating: true) {
        entries[name]?.phase = .opening(creating: true)
        outcome.work.append(.open(name, creating: true))
        return outcome
      }
      shut(name, &outcome)
    case .success(nil):
      answerLeases(of: name, .failed(ServiceError.notMade), while: { !$0.isAlone }, &outcome)
      shut(name, &outcome)
    case .failure(let error):
      answerLeases(of: name, .failed(error), while: { !$0.isAlone }, &outcome)
      shut(name, &outcome)
    }
    advance(name, &outcome)
    stopIfDone(&outcome)
    return outcome
  }

  /// The engine has closed a store.
  mutating func closed(_ name: StoreName) -> Outcome {
    var outcome = Outcome()
    guard case .closing? = entries[name]?.phase else { return outcome }
    closingCount -= 1
    shut(name, &outcome)
    advance(name, &outcome)
    stopIfDone(&outcome)
    return outcome
  }

  /// The engine has erased a store, or put another in its place, or failed to.
  mutating func erased(_ name: StoreName, _ result: Result<Bool, any Error>) -> Outcome {
    var outcome = Outcome()
    guard case .erasing(let ticket)? = entries[name]?.phase else { return outcome }
    switch result {
    case .success(let wasThere): outcome.answers.append((ticket, .erased(wasThere)))
    case .failure(let error): outcome.answers.append((ticket, .failed(error)))
    }
    entries[name]?.phase = .shut
    advance(name, &outcome)
    stopIfDone(&outcome)
    return outcome
  }

  /// Closes what nobody has used since the sweep before the last one.
  mutating func sweep() -> Outcome {
    var outcome = Outcome()
    sweeps += 1
    for (name, entry) in entries
    where entry.isIdle && entry.queue.isEmpty && sweeps - entry.lastSweep > 2 {
      close(name, &outcome)
    }
    return outcome
  }

  /// Refuses every caller from now on, and answers `stopped` when the last lease is back and all is
  /// closed.
  mutating func stop(as ticket: Ticket) -> Outcome {
    var outcome = Outcome()
    isStopping = true
    stoppers.append(ticket)
    for name in Array(entries.keys) {
      answerLeases(of: name, .failed(ServiceError.stopping), while: { _ in true }, &outcome)
      advance(name, &outcome)
    }
    stopIfDone(&outcome)
    return outcome
  }

  /// Whether stores are only being closed any more.
  var isClosing: Bool { isStopping }

  /// Notes that a store fell idle now.
  mutating func rest(_ name: StoreName, at place: Dictionary<StoreName, Entry>.Index) {
    uses += 1
    entries.values[place].lastUse = uses
    entries.values[place].lastSweep = sweeps
    idle.append((name, uses))
    // Each further use leaves a stale entry behind; clearing them out when they are the half is
    // cheap.
    guard idle.count > 64 + 2 * entries.count else { return }
    let entries = entries
    idle.removeAll { entries[$0.name]?.lastUse != $0.use }
  }

  private mutating func stopIfDone(_ outcome: inout Outcome) {
    guard isStopping, entries.isEmpty else { return }
    outcome.answers += stoppers.map { ($0, .stopped) }
    stoppers = []
  }
}

extension ServiceError {
  /// The error of every lease while the service stops.
  static let stopping = ServiceError(.unavailable, "The service is stopping")
  /// The error of a store that an engine was told to make and did not.
  static let notMade = ServiceError(.storage, "The store could not be made")
  /// The error of a caller that waited for a store as long as it may.
  static let crowded = ServiceError(
    .unavailable, "Too many stores are in use at this moment; try again soon")
  /// The error of a caller that gave up.
  static let withdrawn = ServiceError(.unavailable, "The request was cancelled while it waited")
}
