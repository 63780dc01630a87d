import DequeModule

/// Which stores are open, who uses them and who waits: a value without I/O. It says what is to be opened,
/// closed and erased; ``DatabaseManager`` does the work and reports the result.
///
/// Rules:
/// - A store is open at most once.
/// - At most ``maximumOpen`` stores have a slot. A slot is free again only when its store is closed.
/// - A leased store is never closed.
/// - The store that has been idle longest is closed first.
/// - Callers of one store are served in the order of their requests. So are stores that wait for a slot.
struct OpenStores<Store: Sendable>: Sendable {
  /// How many stores may have a slot at once, including those that are being opened or closed.
  let maximumOpen: Int
  /// How many slots are used.
  var openCount = 0
  /// How many of them become free soon, because their stores are being closed.
  var closingCount = 0
  /// Every store that is open, is changing its state, or has waiting callers.
  var entries: [StoreName: Entry] = [:]
  /// Stores that wait for a slot, in order.
  var slotQueue = Deque<StoreName>()
  /// Idle stores, longest idle first. An entry whose store was used again is stale.
  var idle = Deque<(name: StoreName, use: UInt64)>()
  private var uses: UInt64 = 0
  private var sweeps: UInt64 = 0
  private var isStopping = false
  private var stoppers: [Ticket] = []

  init(maximumOpen: Int) { self.maximumOpen = max(1, maximumOpen) }

  var leasedCount: Int { entries.values.count { $0.leases > 0 } }
  var waitingCount: Int { entries.values.reduce(0) { $0 + $1.queue.count } }

  /// Leases a store that is already open; nil when the caller must use ``ask(_:for:as:)``.
  mutating func lease(_ name: StoreName) -> Store? {
    guard !isStopping, let index = entries.index(forKey: name) else { return nil }
    return entries.values[index].lease()
  }

  /// Whether a store is open, is being opened, or has waiting callers.
  func isInUse(_ name: StoreName) -> Bool {
    guard let entry = entries[name] else { return false }
    if case .closing = entry.phase { return !entry.queue.isEmpty }
    return true
  }

  /// Adds a caller to a store's queue.
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

  /// Removes a caller from the queue and answers it with `error`. Does nothing if the caller already has its
  /// answer.
  mutating func withdraw(_ ticket: Ticket, for name: StoreName, _ error: ServiceError) -> Outcome {
    var outcome = Outcome()
    guard let index = entries[name]?.queue.firstIndex(where: { $0.ticket == ticket }) else {
      return outcome
    }
    entries[name]?.queue.remove(at: index)
    outcome.answers.append((ticket, .failed(error)))
    advance(name, &outcome)
    return outcome
  }

  /// Whether a caller only waits for an opening that is already under way.
  func isCertain(_ ticket: Ticket, for name: StoreName) -> Bool {
    entries[name]?.isCertain(ticket) ?? false
  }

  /// Gives a lease back.
  /// - Parameter failed: whether the store must be closed, so that the next caller gets it read from disk
  ///   again.
  mutating func release(_ name: StoreName, failed: Bool) -> Outcome {
    var outcome = Outcome()
    guard let index = entries.index(forKey: name), entries.values[index].leases > 0 else {
      return outcome
    }
    entries.values[index].leases -= 1
    if failed { entries.values[index].isSuspect = true }
    guard entries.values[index].leases == 0 else { return outcome }
    if !isStopping, slotQueue.isEmpty, entries.values[index].canRest {
      // In nearly all cases no caller waits.
      rest(name, at: index)
    } else {
      advance(name, &outcome)
    }
    return outcome
  }

  /// Reports that the engine has opened a store, has found it absent, or has failed.
  mutating func didOpen(_ name: StoreName, _ result: Result<Store?, any Error>) -> Outcome {
    var outcome = Outcome()
    guard case .opening(let creating)? = entries[name]?.phase else { return outcome }
    switch result {
    case .success(let store?): entries[name]?.phase = .open(store)
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

  /// Reports that the engine has closed a store.
  mutating func didClose(_ name: StoreName) -> Outcome {
    var outcome = Outcome()
    guard case .closing? = entries[name]?.phase else { return outcome }
    closingCount -= 1
    shut(name, &outcome)
    advance(name, &outcome)
    stopIfDone(&outcome)
    return outcome
  }

  /// Reports that the engine has erased a store, or has failed.
  mutating func didErase(_ name: StoreName, _ result: Result<Bool, any Error>) -> Outcome {
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

  /// Reports that the exclusive use of a store's file has ended.
  mutating func didUseAlone(_ name: StoreName) -> Outcome {
    var outcome = Outcome()
    guard case .usedAlone? = entries[name]?.phase else { return outcome }
    entries[name]?.phase = .shut
    advance(name, &outcome)
    stopIfDone(&outcome)
    return outcome
  }

  /// Closes stores that have been idle for more than two sweeps.
  mutating func sweep() -> Outcome {
    var outcome = Outcome()
    sweeps += 1
    for (name, entry) in entries
    where entry.isIdle && entry.queue.isEmpty && sweeps - entry.lastSweep > 2 {
      close(name, &outcome)
    }
    return outcome
  }

  /// Refuses every caller from now on. Answers `stopped` when all leases are given back and all stores are
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

  /// Whether the service is stopping, so that stores are only closed.
  var isClosing: Bool { isStopping }

  /// Records that a store is now idle.
  mutating func rest(_ name: StoreName, at index: Dictionary<StoreName, Entry>.Index) {
    uses += 1
    entries.values[index].lastUse = uses
    entries.values[index].lastSweep = sweeps
    idle.append((name, uses))
    // Each further use leaves a stale entry. They are removed when they are about half of the queue, so the
    // cost per use is small.
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
  /// The error of every request while the service stops.
  static let stopping = ServiceError(.unavailable, "The service is stopping")
  /// The error when an engine did not create an absent store although the caller asked for it.
  static let notMade = ServiceError(.storage, "The store could not be created")
  /// The error of a caller that has waited the longest allowed time for a store.
  static let crowded = ServiceError(
    .unavailable, "Too many stores are in use at this moment; try again soon")
  /// The error of a caller that stopped waiting.
  static let withdrawn = ServiceError(.unavailable, "The request was cancelled while it waited")
}
