package import Documents
package import Stores

/// Removing data that no one can use any more. Each call does a small part. The caller decides how fast it goes.
extension AccountService {
  /// The stored progress of the sweep.
  /// - Throws: the system store's errors.
  package func sweepState() async throws -> SweepState { try await accounts.sweepState(at: now()) }

  /// Stores the progress of the sweep durably. Creates the system store if there is none.
  /// - Throws: the system store's errors.
  package func save(_ state: SweepState) async throws { try await accounts.save(state) }

  /// The adoptions that are not complete. Reads every account.
  /// - Throws: the system store's errors.
  package func openAdoptions() async throws -> OpenAdoptions { try await accounts.openAdoptions() }

  /// Copies what is left of a guest's data, as the user's next log-in would.
  /// - Throws: the stores' errors. The call can be repeated.
  package func finish(_ adoption: OpenAdoption) async throws {
    var failure: (any Error)?
    do { try await carry(adoption.guest, into: adoption.user, adoption.account) } catch {
      failure = error
    }
    let user = try await accounts.read(orAbsent: nil) { view in
      try UserDocument(view.document(adoption.account))
    }
    // If the user was erased meanwhile, the copy may have created the store again, even if it failed later.
    if user?.id != adoption.user { return try await eraseAgain(.user(adoption.user)) }
    if let failure { throw failure }
  }

  /// The guests whose stores need not be checked now, according to earlier rounds. One read for all.
  /// - Parameter names: stores of one namespace, in the order of their keys.
  /// - Throws: the system store's errors.
  package func restingGuests(among names: [StoreName]) async throws -> Set<StoreName> {
    guard case .guest(let first)? = names.first, case .guest(let last)? = names.last else {
      return []
    }
    return try await accounts.read(orAbsent: []) { view in
      Set(try GuestRest.guests(from: first, through: last, in: view).map { .guest($0) })
    }
  }

  /// Records until when guests' stores need not be checked. One commit for all.
  /// - Throws: the system store's errors.
  package func rest(_ guests: [AccountID: Timestamp]) async throws {
    guard !guests.isEmpty else { return }
    try await accounts.stores.update(.system, as: .server) { changes in
      for (guest, moment) in guests { changes.write(GuestRest.edit(guest, until: moment)) }
    }
  }

  /// Erases a guest's store if no valid token can exist for it: the guest's last use is longer ago than a token is
  /// valid, and no account is adopting the guest. A store that is in use is never erased.
  /// - Parameter beingAdopted: the adoptions that are not complete.
  /// - Throws: the stores' errors.
  package func sweep(
    guest id: AccountID, by state: SweepState, beingAdopted: OpenAdoptions
  ) async throws -> GuestSweep {
    let name = StoreName.guest(id)
    guard !accounts.stores.isInUse(name) else { return .kept(until: nil) }
    let (isOver, keeping) = (isOver(state), settings.guestKeeping)
    // When the wall clock was set back, the later time is used. Otherwise a new store would look old once the clock
    // is right again.
    let moment = max(now(), state.clock.time)
    guard let used = try await accounts.lastUse(of: id, noting: moment) else {
      return .kept(until: nil)
    }
    guard isOver(used) else { return .kept(until: state.clock.end(of: used, for: keeping)) }
    let note = try await accounts.read(orAbsent: nil) { view in
      try view.document(AccountKeys.guest(id))?.updated
    }
    if let note {
      if beingAdopted.mayConcern(id) { return .kept(until: nil) }
      guard isOver(note) else { return .kept(until: state.clock.end(of: note, for: keeping)) }
    }
    return try await accounts.stores.erase(name, isNoted: false) ? .erased : .kept(until: nil)
  }

  /// Removes records of the system store that are no longer needed: tombstones of accounts and of erasures, and the
  /// records of former guests whose tokens are too old and whose stores are gone.
  /// - Parameter last: the end of the previous call; nil for the first.
  /// - Returns: what was removed and what was left, where to continue (nil when all records were checked), and how many
  ///   records can't be read.
  /// - Throws: the stores' errors.
  package func sweepNotes(
    after last: String?, by state: SweepState, beingAdopted: OpenAdoptions
  ) async throws -> (remains: Remains, last: String?, unreadable: Int) {
    let isOver = isOver(state)
    let walk = try await accounts.findEnded(after: last, isOver: isOver)
    var remains = Remains()
    var notes: [DocumentID] = []
    for id in walk.found.notes {
      guard let guest = AccountKeys.guest(of: id), !beingAdopted.mayConcern(guest) else { continue }
      // While the store exists, the record is the only link from an account to it.
      let isGone = try await accounts.stores.visit(.guest(guest)) { store in
        store == nil
      }
      if isGone { notes.append(id) }
    }
    remains.removed[.names] = try await accounts.remove(walk.found.tombstones) { _ in false }
    remains.removed[.adoptions] = try await accounts.remove(notes, isOver: isOver)
    remains.kept[.adoptions] = walk.found.kept + walk.found.notes.count - notes.count
    return (remains, walk.isFull ? walk.last : nil, walk.unreadable)
  }

  /// Whether a guest whose last use was at a given time can have no valid token any more.
  private func isOver(_ state: SweepState) -> @Sendable (Timestamp) -> Bool {
    let (now, seconds) = (now(), settings.guestKeeping)
    return { state.clock.isOver($0, for: seconds, at: now) }
  }

  /// The sessions whose tokens this process has recently seen and accepts, in the order of their ids. Tokens are
  /// not stored, so there is no complete list.
  package func sessions(
    after last: String?, limit: Int
  ) -> (sessions: [ListedSession], next: String?) {
    let all = proofs.sessions(at: now())
    let rest = all.drop { session in last.map { !$0.precedesBytes(of: session.id) } ?? false }
    let page = Array(rest.prefix(limit))
    return (page, rest.count > limit ? page.last?.id : nil)
  }

  /// Erases a user, for the command line. The effect is the same as of the user's own request.
  /// - Parameter user: a user name or an account's id.
  /// - Throws: `unknownUser`; `integrity` if the user is not found and an account can't be read; the store's errors.
  package func eraseUser(_ user: String) async throws {
    var (ended, id): ([StoreName], AccountID?) = ([], AccountID(user))
    if let name = try? UserName(user), let known = try await accounts.user(name.usualSpelling) {
      id = known.document.id
      ended = try await accounts.endUser(
        AccountKeys.user(known.name ?? name), id: known.document.id)
    } else if let id {
      ended = try await accounts.endUsers([id])
    }
    guard let id, !ended.isEmpty else {
      throw ServiceError(.unknownUser, "There is no user of this name or id.")
    }
    endProofs(of: .user(id))
    audit.note(AuditEvent(.erased, of: id, by: .administrator, about: "user"))
    for store in ended { try await accounts.erase(store) }
  }
}

/// The adoptions that are not complete.
package struct OpenAdoptions: Sendable {
  package let all: [OpenAdoption]
  /// Whether all accounts could be read. Otherwise any guest whom an account has claimed may be among the missing ones.
  package let isComplete: Bool
  private let guests: Set<AccountID>

  init(all: [OpenAdoption], isComplete: Bool) {
    (self.all, self.isComplete) = (all, isComplete)
    guests = Set(all.map(\.guest))
  }

  /// Whether an account may wait for the data of a guest whom it has claimed.
  func mayConcern(_ guest: AccountID) -> Bool { !isComplete || guests.contains(guest) }
}

/// An adoption that is not complete: it failed, or the user's documents have no space for everything.
package struct OpenAdoption: Sendable {
  package let guest: AccountID
  let user: AccountID
  /// The user's document in the system store.
  let account: DocumentID
}

/// The result of checking a guest's store.
package enum GuestSweep: Sendable, Equatable {
  /// No one could use the store; it was erased.
  case erased
  /// The store stays. It need not be checked before this time; with nil, it is checked in the next round.
  case kept(until: Timestamp?)
}

/// A session, for the operator.
package struct ListedSession: Sendable, Equatable {
  /// The session's id, which is no proof of identity.
  package let id: String
  package let principal: Principal
  /// When its present token expires.
  package let expiresAt: Timestamp
}
