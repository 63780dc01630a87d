import DequeModule

extension OpenStores {
  /// Does what a store's phase and the first request in its queue allow.
  mutating func advance(_ name: StoreName, _ outcome: inout Outcome) {
    while let entry = entries[name] {
      switch entry.phase {
      case .opening, .closing, .erasing, .usedAlone: return
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

  /// Frees a store's slot.
  mutating func shut(_ name: StoreName, _ outcome: inout Outcome) {
    entries[name]?.phase = .shut
    entries[name]?.isSuspect = false
    openCount -= 1
    grantSlots(&outcome)
  }

  /// Starts to close an idle store.
  mutating func close(_ name: StoreName, _ outcome: inout Outcome) {
    guard case .open(let store)? = entries[name]?.phase else { return }
    entries[name]?.phase = .closing
    closingCount += 1
    outcome.work.append(.close(name, store))
  }

  /// Answers the callers at the head of a store's queue, as long as their requests match.
  mutating func answerLeases(
    of name: StoreName, _ answer: Answer, while isWanted: (Request) -> Bool,
    _ outcome: inout Outcome
  ) {
    guard let queue = entries[name]?.queue else { return }
    let answered = queue.prefix { isWanted($0.request) }
    outcome.answers += answered.map { ($0.ticket, answer) }
    entries[name]?.queue.removeFirst(answered.count)
  }

  /// Decides what happens next with a store that is not open.
  private mutating func start(_ name: StoreName, for head: Waiter?, _ outcome: inout Outcome) {
    switch head?.request {
    case .lease?:
      if entries[name]?.isInSlotQueue == false {
        entries[name]?.isInSlotQueue = true
        slotQueue.append(name)
      }
      grantSlots(&outcome)
    case .alone?:
      leaveSlotQueue(name)
      if let ticket = entries[name]?.queue.removeFirst().ticket {
        entries[name]?.phase = .usedAlone
        outcome.answers.append((ticket, .alone))
      }
    case .erase?:
      leaveSlotQueue(name)
      if let ticket = entries[name]?.queue.removeFirst().ticket {
        entries[name]?.phase = .erasing(ticket)
        outcome.work.append(.erase(name))
      }
    case nil:
      leaveSlotQueue(name)
      entries[name] = nil
    }
  }

  /// Decides what happens with an open store that no caller uses or waits for.
  private mutating func settle(_ name: StoreName, _ entry: Entry, _ outcome: inout Outcome) {
    guard !entry.isSuspect, !isClosing else {
      close(name, &outcome)
      return
    }
    if let index = entries.index(forKey: name) { rest(name, at: index) }
    if !slotQueue.isEmpty { grantSlots(&outcome) }
  }

  /// Opens the first waiting stores while slots are free. Then closes as many idle stores as there are stores
  /// that still wait.
  private mutating func grantSlots(_ outcome: inout Outcome) {
    while openCount < maximumOpen, let name = slotQueue.popFirst() {
      entries[name]?.isInSlotQueue = false
      guard case .lease(let creating)? = entries[name]?.queue.first?.request else { continue }
      openCount += 1
      entries[name]?.phase = .opening(creating: creating)
      outcome.work.append(.open(name, creating: creating))
    }
    while closingCount < slotQueue.count, let name = popIdle() { close(name, &outcome) }
  }

  private mutating func popIdle() -> StoreName? {
    while let (name, use) = idle.popFirst() {
      guard let entry = entries[name], entry.isIdle, entry.lastUse == use else { continue }
      return name
    }
    return nil
  }

  private mutating func leaveSlotQueue(_ name: StoreName) {
    guard entries[name]?.isInSlotQueue == true else { return }
    entries[name]?.isInSlotQueue = false
    slotQueue.removeAll { $0 == name }
  }

  /// Identifies one waiting caller. ``DatabaseManager`` draws it.
  typealias Ticket = UInt64

  /// What a caller waits for.
  enum Request: Sendable, Equatable {
    /// The store; an absent one is created if `creating` is true.
    case lease(creating: Bool)
    case erase
    /// Exclusive use of the store's file while the store is closed.
    case alone

    /// Whether the store may not be open meanwhile.
    var isAlone: Bool { self == .erase || self == .alone }
  }

  /// The answer to a caller that waited.
  enum Answer: Sendable {
    /// The caller has the store until it releases it.
    case leased(Store)
    /// The store does not exist and was not to be created.
    case absent
    /// The store is erased; false when it did not exist.
    case erased(Bool)
    /// The store can't be opened until the caller calls ``OpenStores/didUseAlone(_:)``.
    case alone
    case failed(any Error)
    /// Every store is closed.
    case stopped
  }

  /// Work for the engine. The result of each must be reported.
  enum Work: Sendable {
    /// Report with ``OpenStores/didOpen(_:_:)``.
    case open(StoreName, creating: Bool)
    /// Report with ``OpenStores/didClose(_:)``.
    case close(StoreName, Store)
    /// Report with ``OpenStores/didErase(_:_:)``.
    case erase(StoreName)
  }

  /// The result of a step: answers to give and work to start, in order.
  struct Outcome: Sendable {
    /// The answers, with the callers that get them.
    var answers: [(ticket: Ticket, answer: Answer)] = []
    var work: [Work] = []
  }

  /// A caller in the queue of a store.
  struct Waiter: Sendable {
    let ticket: Ticket
    let request: Request
  }

  /// One store that is open, is changing its state, or has waiting callers.
  struct Entry: Sendable {
    /// The state of a store. In the states `opening`, `open` and `closing` it has a slot.
    enum Phase: Sendable {
      case shut
      case opening(creating: Bool)
      case open(Store)
      case closing
      case erasing(Ticket)
      /// A caller has exclusive use of the closed store's file.
      case usedAlone
    }

    /// The store's state.
    var phase = Phase.shut
    /// How many callers use the store now.
    var leases = 0
    /// Whether the storage has failed, so that the store must be closed and opened again before the next
    /// lease.
    var isSuspect = false
    var isInSlotQueue = false
    /// The waiting callers, in the order of their requests.
    var queue: [Waiter] = []
    /// The number of the store's last use, counted over all stores.
    var lastUse: UInt64 = 0
    /// How many sweeps had run when the store was last used.
    var lastSweep: UInt64 = 0

    /// Whether the store is open and not in use.
    var isIdle: Bool {
      guard case .open = phase else { return false }
      return leases == 0
    }

    /// Whether nothing in this entry requires to close the store.
    var canRest: Bool { isIdle && !isSuspect && queue.isEmpty }

    /// Leases the store if it is open, has no error, and no caller waits for it.
    mutating func lease() -> Store? {
      guard case .open(let store) = phase, !isSuspect, queue.isEmpty else { return nil }
      leases += 1
      return store
    }

    /// Whether the store is being opened for this caller, with no erasure or other exclusive request before
    /// it.
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
