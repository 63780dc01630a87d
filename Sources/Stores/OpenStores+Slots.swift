import DequeModule

extension OpenStores {
  /// Does for a store what its phase and the head of its line allow.
  mutating func advance(_ name: StoreName, _ outcome: inout Outcome) {
    while let entry = entries[name] {
      switch entry.phase {
      case .opening, .closing, .erasing:
        return
      case .shut:
        start(name, for: entry.queue.first, &outcome)
        return
      case .open(let store):
        guard let head = entry.queue.first else {
          if entry.leases == 0 { settle(name, entry, &outcome) }
          return
        }
        guard !head.request.isAlone, !entry.isSuspect else {
          if entry.leases == 0 { close(name, &outcome) }
          return
        }
        entries[name]?.queue.removeFirst()
        entries[name]?.leases += 1
        outcome.answers.append((head.ticket, .leased(store)))
      }
    }
  }

  /// Gives back a store's slot.
  mutating func shut(_ name: StoreName, _ outcome: inout Outcome) {
    entries[name]?.phase = .shut
    entries[name]?.isSuspect = false
    openCount -= 1
    grantSlots(&outcome)
  }

  /// Begins to close an idle store.
  mutating func close(_ name: StoreName, _ outcome: inout Outcome) {
    guard case .open(let store)? = entries[name]?.phase else { return }
    entries[name]?.phase = .closing
    closingCount += 1
    outcome.work.append(.close(name, store))
  }

  /// Answers those at the head of a store's line whose request is as wanted.
  mutating func answerLeases(
    of name: StoreName, _ answer: Answer, while isWanted: (Request) -> Bool,
    _ outcome: inout Outcome
  ) {
    guard let queue = entries[name]?.queue else { return }
    let answered = queue.prefix { isWanted($0.request) }
    outcome.answers += answered.map { ($0.ticket, answer) }
    entries[name]?.queue.removeFirst(answered.count)
  }

  /// What becomes of a store that is shut.
  private mutating func start(
    _ name: StoreName, for head: Waiter?, _ outcome: inout Outcome
  ) {
    switch head?.request {
    case .lease?:
      if entries[name]?.isInLine == false {
        entries[name]?.isInLine = true
        line.append(name)
      }
      grantSlots(&outcome)
    case .alone?:
      leaveLine(name)
      if let ticket = entries[name]?.queue.removeFirst().ticket {
        entries[name]?.phase = .erasing(ticket)
        outcome.answers.append((ticket, .alone))
      }
    case .erase?, .replace?:
      leaveLine(name)
      if let ticket = entries[name]?.queue.removeFirst().ticket {
        entries[name]?.phase = .erasing(ticket)
        outcome.work.append(head?.request == .erase ? .erase(name) : .replace(name))
      }
    case nil:
      leaveLine(name)
      entries[name] = nil
    }
  }

  /// What becomes of an open store that nobody uses or wants.
  private mutating func settle(_ name: StoreName, _ entry: Entry, _ outcome: inout Outcome) {
    guard !entry.isSuspect, !isClosing else {
      close(name, &outcome)
      return
    }
    if let place = entries.index(forKey: name) { rest(name, at: place) }
    if !line.isEmpty { grantSlots(&outcome) }
  }

  /// Opens the stores at the head of the line while slots are free, and closes as many idle stores
  /// as there are stores that still wait.
  private mutating func grantSlots(_ outcome: inout Outcome) {
    while openCount < maximumOpen, let name = line.popFirst() {
      entries[name]?.isInLine = false
      guard case .lease(let creating)? = entries[name]?.queue.first?.request else { continue }
      openCount += 1
      entries[name]?.phase = .opening(creating: creating)
      outcome.work.append(.open(name, creating: creating))
    }
    while closingCount < line.count, let name = popIdle() { close(name, &outcome) }
  }

  private mutating func popIdle() -> StoreName? {
    while let (name, use) = idle.popFirst() {
      guard let entry = entries[name], entry.isIdle, entry.lastUse == use else { continue }
      return name
    }
    return nil
  }

  private mutating func leaveLine(_ name: StoreName) {
    guard entries[name]?.isInLine == true else { return }
    entries[name]?.isInLine = false
    line.removeAll { $0 == name }
  }
}

extension OpenStores {
  /// Stands for one waiting caller; drawn by ``DatabaseManager``.
  typealias Ticket = UInt64

  /// What a caller may wait for.
  enum Request: Sendable, Equatable {
    /// The store, made if absent where `creating`.
    case lease(creating: Bool)
    /// The store's end.
    case erase
    /// Another store in its place.
    case replace
    /// The store's file, closed.
    case alone

    /// Whether nobody may have the store open meanwhile.
    var isAlone: Bool { self == .erase || self == .replace || self == .alone }
  }

  /// What a caller that waited is told.
  enum Answer: Sendable {
    /// The store is the caller's until it releases it.
    case leased(Store)
    /// There is no such store, and none was to be made.
    case absent
    /// The store is gone, or another is in its place; false when there was none.
    case erased(Bool)
    /// Nobody has the store open until the caller reports back with ``OpenStores/erased(_:_:)``.
    case alone
    /// Nothing came of it.
    case failed(any Error)
    /// Every store is closed.
    case stopped
  }

  /// What an engine is to be asked; each is to be reported back when done.
  enum Work: Sendable {
    /// Report with ``OpenStores/opened(_:_:)``.
    case open(StoreName, creating: Bool)
    /// Report with ``OpenStores/closed(_:)``.
    case close(StoreName, Store)
    /// Report with ``OpenStores/erased(_:_:)``.
    case erase(StoreName)
    /// Report with ``OpenStores/erased(_:_:)``.
    case replace(StoreName)
  }

  /// What follows from a step: answers to give and work to begin, in order.
  struct Outcome: Sendable {
    /// Which callers are told what.
    var answers: [(ticket: Ticket, answer: Answer)] = []
    /// What the engine is to do.
    var work: [Work] = []
  }

  /// A caller in a store's own line.
  struct Waiter: Sendable {
    /// Who.
    let ticket: Ticket
    /// For what.
    let request: Request
  }

  /// One store that is open, about to be or about to go.
  struct Entry: Sendable {
    /// Where a store stands; `opening`, `open` and `closing` hold one of the slots.
    enum Phase: Sendable {
      case shut
      case opening(creating: Bool)
      case open(Store)
      case closing
      case erasing(Ticket)
    }

    /// Where it stands.
    var phase = Phase.shut
    /// How many callers use it now.
    var leases = 0
    /// Whether it failed below and must be read from disk again before the next lease.
    var isSuspect = false
    /// Whether it stands in the line for a slot.
    var isInLine = false
    /// Who waits for it, in the order of asking.
    var queue: [Waiter] = []
    /// Number of its last use, over all stores.
    var lastUse: UInt64 = 0
    /// The sweep that it was last used in.
    var lastSweep: UInt64 = 0

    /// Whether it is open and nobody uses it.
    var isIdle: Bool {
      guard case .open = phase else { return false }
      return leases == 0
    }

    /// Whether it may stay open and idle, as far as it alone decides.
    var canRest: Bool { isIdle && !isSuspect && queue.isEmpty }

    /// Takes a lease if nothing stands in the way.
    mutating func lease() -> Store? {
      guard case .open(let store) = phase, !isSuspect, queue.isEmpty else { return nil }
      leases += 1
      return store
    }

    /// Whether a caller's answer is on its way: the store is being opened, for it among others.
    func isCertain(_ ticket: Ticket) -> Bool {
      guard case .opening = phase else { return false }
      for waiter in queue {
        if waiter.request.isAlone { return false }
        if waiter.ticket == ticket { return true }
      }
      return false
    }
  }
}
