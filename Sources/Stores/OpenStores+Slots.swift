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
        guard head.request != .erase, !entry.isSuspect else {
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
    case .erase?:
      leaveLine(name)
      if let ticket = entries[name]?.queue.removeFirst().ticket {
        entries[name]?.phase = .erasing(ticket)
        outcome.work.append(.erase(name))
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
    line.keep { $0 != name }
  }
}
