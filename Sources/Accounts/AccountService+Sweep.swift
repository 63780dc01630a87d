package import Documents
import JSON
import Lanes
package import Stores

/// Removing what nobody can use any more. Each call is a small piece of it; whoever calls sees to the pace.
extension AccountService {
  /// How far sweeping has come.
  /// - Throws: the system store's errors.
  package func sweepState() async throws -> SweepState {
    try await accounts.sweepState(at: now())
  }

  /// Notes how far sweeping has come, durably; makes the system store if there is none.
  /// - Throws: the system store's errors.
  package func save(_ state: SweepState) async throws {
    try await accounts.save(state)
  }

  /// The guests whose bookmarks are on their way into an account. Reads every account.
  /// - Throws: the system store's errors.
  package func guestsOnTheirWay() async throws -> Set<AccountID> {
    try await accounts.guestsOnTheirWay()
  }

  /// The guests among some stores that need not be looked at now, by the notes of earlier rounds. One read for all.
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

  /// Notes until when guests' stores need not be looked at. One commit for all.
  /// - Throws: the system store's errors.
  package func rest(_ guests: [AccountID: Timestamp]) async throws {
    guard !guests.isEmpty else { return }
    try await accounts.update { changes in
      for (guest, moment) in guests { changes.write(GuestRest.edit(guest, until: moment)) }
    }
  }

  /// Erases a guest's store if no token can lead to it any more: when the guest was last here so long ago as a token
  /// lives, and no account waits for what is in it. One that is in use stays in any case.
  /// - Parameter onTheirWay: the guests for whom an account waits.
  /// - Throws: the stores' errors.
  package func sweep(
    guest id: AccountID, by state: SweepState, onTheirWay: Set<AccountID>
  ) async throws -> GuestSweep {
    let name = StoreName.guest(id)
    guard !accounts.stores.isInUse(name) else { return .kept(until: nil) }
    let (isOver, keeping) = (isOver(state), settings.guestKeeping)
    // A wall clock that went back must not make a new store look old once it is right again.
    let moment = max(now(), state.clock.time)
    guard let used = try await accounts.lastUse(of: id, noting: moment) else {
      return .kept(until: nil)
    }
    guard isOver(used) else { return .kept(until: state.clock.end(of: used, for: keeping)) }
    let note = try await accounts.read(orAbsent: nil) { view in
      try view.document(AccountKeys.guest(id))?.updated
    }
    if let note {
      if onTheirWay.contains(id) { return .kept(until: nil) }
      guard isOver(note) else { return .kept(until: state.clock.end(of: note, for: keeping)) }
    }
    return try await accounts.stores.erase(name, isNoted: false) ? .erased : .kept(until: nil)
  }

  /// Removes some of the system store's notes that nothing needs any more: tombstones of accounts and of erasures; and
  /// what became of guests, once their tokens are too old and their stores are gone.
  /// - Parameter last: where the call before ended; nil at first.
  /// - Returns: what went and was left, and where to go on; nil when all are looked at.
  /// - Throws: the stores' errors.
  package func sweepNotes(
    after last: String?, by state: SweepState, onTheirWay: Set<AccountID>
  ) async throws -> (remains: Remains, last: String?) {
    let isOver = isOver(state)
    let walk = try await accounts.ended(after: last, isOver: isOver)
    var remains = Remains()
    var notes: [DocumentID] = []
    for id in walk.found.notes {
      guard let guest = AccountKeys.guest(of: id), !onTheirWay.contains(guest) else { continue }
      // The note is what leads from an account to the store.
      let isGone = try await accounts.stores.visit(.guest(guest)) { store in
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

/// What a look at a guest's store has come to.
package enum GuestSweep: Sendable, Equatable {
  /// It was nobody's any more.
  case erased
  /// It stays, and need not be looked at before a moment; in the next round, for nil.
  case kept(until: Timestamp?)
}

/// How far the walk over all stores has come that removes what nobody can use any more, and by which time it judges.
///
/// A local document of the system store, `{"epoch","time","since","begun","position"}`: times in milliseconds. With
/// another epoch than the store's it is of a backup, and a new one begins.
package struct SweepState: Sendable, Equatable {
  /// The local document.
  static let id = LocalID(receipt: "sweep")

  /// What judges.
  var clock: SweepClock
  /// When the last round began; nil before the first.
  package var begun: Timestamp?
  /// The key of the store that the present round has come to; nil where it is over.
  package var position: String?

  /// The state of who has never swept.
  package init(at now: Timestamp) { clock = SweepClock(at: now) }

  /// Reads a state; nil for one of another store.
  init?(_ document: LocalDocument, epoch: String) {
    guard let value = try? JSONValue(parsing: document.body, limits: .small),
      value["epoch"]?.string?.equalsBytes(of: epoch) == true, let time = value["time"]?.int,
      let since = value["since"]?.int
    else { return nil }
    clock = SweepClock(
      time: Timestamp(milliseconds: Int64(time)), since: Timestamp(milliseconds: Int64(since)))
    begun = (value["begun"]?.int).map { Timestamp(milliseconds: Int64($0)) }
    position = value["position"]?.string
  }

  /// The state's JSON.
  func body(epoch: String) -> [UInt8] {
    func number(_ time: Timestamp) -> JSONValue { .number(JSONNumber(Int(time.milliseconds))) }
    var object: JSONObject = [
      "epoch": .string(epoch), "time": number(clock.time), "since": number(clock.since),
    ]
    if let begun { object.append("begun", number(begun)) }
    if let position { object.append("position", .string(position)) }
    return JSONValue.object(object).bytes
  }

  /// Goes on by what the wall clock shows, but no faster than twice the time that the server has run.
  /// - Parameter seconds: how long that is since the last call.
  package mutating func advance(to now: Timestamp, afterRunning seconds: Int64) {
    clock.advance(to: now, afterRunning: seconds)
  }

  /// Whether something that was last used or changed at a moment has not been for so many seconds.
  package func isOver(_ moment: Timestamp, for seconds: Int64, at now: Timestamp) -> Bool {
    clock.isOver(moment, for: seconds, at: now)
  }

  /// The moment at which what has a time of its own is judged: now, unless the wall clock has run ahead.
  package func moment(at now: Timestamp) -> Timestamp { min(clock.time, now) }
}

/// The time by which it is judged what nobody can use any more.
///
/// It is never ahead of the wall clock and never goes more than twice as fast as the server runs, so that a clock that
/// is set wrong removes nothing before somebody has had days to see it. What is behind by more than
/// ``longestGap`` (a clock that was never right before, a server that stood still for long) begins anew, and
/// everything counts as used at that moment.
struct SweepClock: Sendable, Equatable {
  /// How much faster than the server runs it goes at most.
  static let haste: Int64 = 2
  /// How far behind the wall clock it may be, in seconds: 30 days.
  static let longestGap: Int64 = 30 * 86_400

  /// What it shows.
  private(set) var time: Timestamp
  /// When it began: nothing counts as used before.
  private(set) var since: Timestamp

  /// A clock that begins.
  init(at now: Timestamp) { (time, since) = (now, now) }

  /// A clock as it was stored.
  init(time: Timestamp, since: Timestamp) { (self.time, self.since) = (time, since) }

  /// Goes on.
  /// - Parameter now: what the wall clock shows.
  /// - Parameter seconds: how long the server has run since it was last told, by a clock that nobody sets.
  mutating func advance(to now: Timestamp, afterRunning seconds: Int64) {
    guard time < now else { return }
    if time.adding(seconds: Self.longestGap) < now {
      self = SweepClock(at: now)
    } else {
      let (step, isFar) = max(0, seconds).multipliedReportingOverflow(by: Self.haste)
      time = min(now, time.adding(seconds: isFar ? .max : step))
    }
  }

  /// Whether something that was last used at a moment has not been for so long.
  /// - Parameter now: what the wall clock shows.
  func isOver(_ used: Timestamp, for seconds: Int64, at now: Timestamp) -> Bool {
    end(of: used, for: seconds) <= min(time, now)
  }

  /// When something that was last used at a moment will not have been for so long.
  func end(of used: Timestamp, for seconds: Int64) -> Timestamp {
    max(used, since).adding(seconds: seconds)
  }
}

/// Who has an account, for the operator.
package struct ListedUser: Sendable, Equatable {
  /// The name; nil for who comes with another issuer's token, and for what can't be read.
  package let name: String?
  /// The account's id; nil for a damaged one.
  package let id: AccountID?
  /// When it was made, RFC 3339.
  package let createdAt: String
}

/// A session, for the operator.
package struct ListedSession: Sendable, Equatable {
  /// The session's id, which proves nothing.
  package let id: String
  /// Whose.
  package let principal: Principal
  /// When its present token ends.
  package let expiresAt: Timestamp
}

extension AccountService {
  /// Everybody who has an account, in no order that means anything.
  /// - Throws: the store's errors.
  package func users() async throws -> [ListedUser] {
    try await accounts.users()
  }

  /// A page of those who have an account, in an order that does not change while nobody comes or goes.
  /// - Parameter last: start after this place; nil from the first.
  /// - Returns: besides, where to go on; nil at the end.
  /// - Throws: the store's errors.
  package func users(
    after last: String?, limit: Int
  ) async throws -> (users: [ListedUser], next: String?) {
    try await accounts.users(after: last, limit: limit)
  }

  /// The sessions whose tokens this process has seen lately and takes, in the order of their ids. A token is not kept
  /// anywhere, so there is no list of all.
  package func sessions(
    after last: String?, limit: Int
  ) -> (sessions: [ListedSession], next: String?) {
    let all = proofs.sessions(at: now())
    let rest = all.drop { session in last.map { !$0.precedesBytes(of: session.id) } ?? false }
    let page = Array(rest.prefix(limit))
    return (page, rest.count > limit ? page.last?.id : nil)
  }

  /// Erases a user, for the command line: as if they had asked for it themselves.
  /// - Parameter user: a name, or the id of an account.
  /// - Throws: `unknownUser`; the store's errors.
  package func eraseUser(_ user: String) async throws {
    let ended = try await ended(user)
    guard !ended.isEmpty else {
      throw ServiceError(.unknownUser, "There is no user of this name or id.")
    }
    for store in ended { try await accounts.erase(store) }
  }

  private func ended(_ user: String) async throws -> [StoreName] {
    if let name = try? UserName(user), let known = try await accounts.knownUser(name) {
      let id = known.document.id
      let ended = try await accounts.endUser(known.name ?? name, id: id)
      proofs.end { $0.id == id }
      return ended
    }
    guard let id = AccountID(user) else { return [] }
    let ended = try await accounts.endUsers([id])
    proofs.end { $0.id == id }
    return ended
  }
}

extension AccountStore {
  /// How far the walk over the accounts has come.
  private struct Walk: Sendable {
    var ids: [DocumentID]?
    var next = 0
    var found: [ListedUser] = []
  }

  /// Everybody who has an account; a damaged one is listed without a name or an id.
  func users() async throws -> [ListedUser] {
    try await stores.withStore(.system, creating: false) { store in
      guard let store else { return [] }
      return try await store.read(inSlices: Walk()) { walk, view in
        let ids = if let ids = walk.ids { ids } else { try view.ids(ofType: "user") }
        walk.ids = ids
        while walk.next < ids.count {
          if let user = try Self.listed(ids[walk.next], in: view) { walk.found.append(user) }
          walk.next += 1
          if Slice.isOver, walk.next < ids.count { return nil }
        }
        return walk.found
      }
    }
  }

  /// How far the walk over a page has come.
  private struct PageWalk: Sendable {
    var range: DocumentRange
    var found: [ListedUser] = []
    var last: String?
  }

  /// A page of those who have an account, by the hashes of their names.
  func users(
    after last: String?, limit: Int
  ) async throws -> (users: [ListedUser], next: String?) {
    let whole = DocumentRange(
      start: AccountKeys.userPrefix, end: AccountKeys.userPrefix + "~", includesEnd: false)
    let range = last.map { whole.behind(AccountKeys.userPrefix + $0) } ?? whole
    return try await stores.withStore(.system, creating: false) { store in
      guard let store else { return ([], nil) }
      return try await store.read(inSlices: PageWalk(range: range)) { walk, view in
        var (isCut, next) = (false, String?.none)
        var ids: [DocumentID] = []
        try view.documents(walk.range) { document in
          guard walk.found.count + ids.count < limit else {
            next = ids.last?.text ?? walk.last
            return false
          }
          ids.append(document.id)
          isCut = Slice.isOver
          return !isCut
        }
        for id in ids { if let user = try Self.listed(id, in: view) { walk.found.append(user) } }
        guard isCut, let reached = ids.last else {
          return (walk.found, next.map { String($0.dropFirst(AccountKeys.userPrefix.count)) })
        }
        walk.last = reached.text
        walk.range = walk.range.behind(reached.text)
        return nil
      }
    }
  }

  private static func listed(
    _ id: DocumentID, in view: any StoreView
  ) throws -> ListedUser? {
    do {
      guard let user = try UserDocument(view.document(id)) else { return nil }
      let name = try view.local(LocalID(receipt: id.text)).map { local in
        try Credentials(local).name
      }
      return ListedUser(name: name, id: user.id, createdAt: user.createdAt)
    } catch {
      guard ServiceError(error)?.code == .integrity else { throw error }
      return ListedUser(name: nil, id: nil, createdAt: "")
    }
  }
}
