import Documents
package import Stores

/// Removing what nobody can use any more. Each call is a small piece of it; whoever calls sees to the pace.
extension AccountService {
  /// How far sweeping has come.
  /// - Throws: the system store's errors.
  package func sweepState() async throws(AccountError) -> SweepState {
    try await accounts.sweepState(at: now())
  }

  /// Notes how far sweeping has come, durably; makes the system store if there is none.
  /// - Throws: the system store's errors.
  package func save(_ state: SweepState) async throws(AccountError) {
    try await accounts.save(state)
  }

  /// The guests whose bookmarks are on their way into an account. Reads every account.
  /// - Throws: the system store's errors.
  package func guestsOnTheirWay() async throws(AccountError) -> Set<AccountID> {
    try await accounts.guestsOnTheirWay()
  }

  /// Erases a guest's store if no token can lead to it any more: when the guest was last here so long ago as a token
  /// lives and a week, and no account waits for what is in it. One that is in use stays in any case.
  /// - Parameter onTheirWay: the guests for whom an account waits.
  /// - Returns: whether it was erased.
  /// - Throws: the stores' errors.
  package func sweep(
    guest id: AccountID, by state: SweepState, onTheirWay: Set<AccountID>
  ) async throws(AccountError) -> Bool {
    let name = StoreName.guest(id)
    guard !accounts.stores.isInUse(name) else { return false }
    let isOver = isOver(state)
    // A wall clock that went back must not make a new store look old once it is right again.
    let moment = max(now(), state.clock.time)
    guard let used = try await accounts.lastUse(of: id, noting: moment), isOver(used) else {
      return false
    }
    let note = try await accounts.read(orAbsent: nil) { view throws(StoreError) in
      try view.document(AccountKeys.guest(id))?.updated
    }
    if let note, onTheirWay.contains(id) || !isOver(note) { return false }
    do { return try await accounts.stores.erase(name, isNoted: false) } catch {
      throw AccountError(error)
    }
  }

  /// Removes some of the system store's notes that nothing needs any more: tombstones of accounts and of erasures; and
  /// what became of guests, once their tokens are too old and their stores are gone.
  /// - Parameter last: where the call before ended; nil at first.
  /// - Returns: what went and was left, and where to go on; nil when all are looked at.
  /// - Throws: the stores' errors.
  package func sweepNotes(
    after last: String?, by state: SweepState, onTheirWay: Set<AccountID>
  ) async throws(AccountError) -> (remains: Remains, last: String?) {
    let isOver = isOver(state)
    let walk = try await accounts.ended(after: last, isOver: isOver)
    var remains = Remains()
    var notes: [DocumentID] = []
    for id in walk.found.notes {
      guard let guest = AccountKeys.guest(of: id), !onTheirWay.contains(guest) else { continue }
      // The note is what leads from an account to the store.
      let isGone = try await accounts.stores.visit(.guest(guest)) { store throws(AccountError) in
        store == nil
      }
      if isGone { notes.append(id) }
    }
    remains.removed[.names] = try await accounts.remove(walk.found.tombstones) { _ in false }
    remains.removed[.adoptions] = try await accounts.remove(notes, isOver: isOver)
    remains.kept[.adoptions] = walk.found.kept + walk.found.notes.count - notes.count
    return (remains, walk.isFull ? walk.last : nil)
  }

  /// Whether no token can be left of a guest who was last here at a moment.
  private func isOver(_ state: SweepState) -> @Sendable (Timestamp) -> Bool {
    let (now, seconds) = (now(), settings.guestKeeping)
    return { state.clock.isOver($0, for: seconds, at: now) }
  }
}
