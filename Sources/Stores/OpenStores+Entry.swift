extension OpenStores {
  /// Stands for one waiting caller; drawn by ``DatabaseManager``.
  typealias Ticket = UInt64

  /// What a caller may wait for.
  enum Request: Sendable, Equatable {
    /// The store, made if absent where `creating`.
    case lease(creating: Bool)
    /// The store's end.
    case erase
  }

  /// What a caller that waited is told.
  enum Answer: Sendable {
    /// The store is the caller's until it releases it.
    case leased(Store)
    /// There is no such store, and none was to be made.
    case absent
    /// The store is gone; false when there was none.
    case erased(Bool)
    /// Nothing came of it.
    case failed(StoreError)
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
        if waiter.request == .erase { return false }
        if waiter.ticket == ticket { return true }
      }
      return false
    }
  }
}
