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

  /// Erases a guest's store if no token can lead to it any more: when the guest was last here so long ago as a token
  /// lives and a week, and no account waits for what is in it. One that is in use stays in any case.
  /// - Parameter onTheirWay: the guests for whom an account waits.
  /// - Returns: whether it was erased.
  /// - Throws: the stores' errors.
  package func sweep(
    guest id: AccountID, by state: SweepState, onTheirWay: Set<AccountID>
  ) async throws -> Bool {
    let name = StoreName.guest(id)
    guard !accounts.stores.isInUse(name) else { return false }
    let isOver = isOver(state)
    // A wall clock that went back must not make a new store look old once it is right again.
    let moment = max(now(), state.clock.time)
    guard let used = try await accounts.lastUse(of: id, noting: moment), isOver(used) else {
      return false
    }
    let note = try await accounts.read(orAbsent: nil) { view in
      try view.document(AccountKeys.guest(id))?.updated
    }
    if let note, onTheirWay.contains(id) || !isOver(note) { return false }
    return try await accounts.stores.erase(name, isNoted: false)
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
  /// How far behind the wall clock it may be, in seconds: 37 days.
  static let longestGap: Int64 = 37 * 86_400

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
    max(used, since).adding(seconds: seconds) <= min(time, now)
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

extension AccountService {
  /// Everybody who has an account, in no order that means anything.
  /// - Throws: the store's errors.
  package func users() async throws -> [ListedUser] {
    try await accounts.users()
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
