import Crypto
package import Documents
package import IPAddresses
import Scheduling
package import Stores
import Synchronization

/// The use cases of accounts: guests, users, passwords, tokens and sessions.
///
/// Accounts are documents of the system store, so the storage engine keeps them like any other document:
/// - `user:<hash of the name's key>`: an account whose document does not contain the name;
/// - the local document of the same id: the name and the password's hash. Local documents have no history, so that
///   nothing of them remains when an account is erased;
/// - `guest:<id>`: a guest that was adopted by a user or erased;
/// - `erasure:<id>`: a store that is to be erased;
/// - the local document `revoked:<session>`: a session that was logged out; it expires with the session's last
///   token;
/// - the local document `session-ends:<administrator>`: how often the administrator has ended all sessions;
/// - the local document `exchanged:<hash>`: another issuer's ID token that was used; it expires with the token. A
///   user of another issuer has a `user:` document without a local document;
/// - the local document `display-name:<id>`: the display name of another issuer's user, which ends with the account;
/// - the local documents `audit/<time>-<number>-<server>`: the audit log (``AuditPiece``).
///
/// One process serves one data directory, so the proofs that this process has cached are always up to date. Others
/// it reads from the store. Where several processes share a database, a cached proof is used for a second at most after
/// a look at the accounts (``ProofCache``).
package final class AccountService: Sendable {
  /// Runs a blocking closure on a thread outside Swift's own pool. Hashing a password takes 50 ms.
  package typealias BlockingRun =
    @Sendable (_ work: @escaping @Sendable () -> [UInt8]) async throws -> [UInt8]
  /// Copies a guest's bookmarks into a user's store. It can be repeated safely for the same claim of the guest. It
  /// returns false while something remains in the guest's store; then every log-in tries it again.
  package typealias AdoptGuest =
    @Sendable (_ guest: AccountID, _ user: AccountID, _ claim: String) async throws -> Bool

  let settings: AccountSettings
  let now: @Sendable () -> Timestamp
  let uptime: @Sendable () -> ContinuousClock.Instant
  let adoptGuest: AdoptGuest
  let accounts: AccountStore
  let tokens: TokenSigner
  let hashing: PasswordHashing
  let proofs: ProofCache
  let renewals = RecentRenewals()
  let verifications = RequestCoalescer<SharedVerification, Result<VerifiedUser, any Error>>()
  let lockouts: Lockouts
  let guestRate: AddressRate
  /// The rate of KiB that new guests write.
  let guestBytes: AddressRate
  let passwordRate: AddressRate
  /// Passwords that were right at their address lately have a rate of their own, which no guesser uses up.
  let provenRate: AddressRate
  let issuers: [IssuerKeys]
  /// The key of the hashes of cached passwords.
  let passwordKey = SymmetricKey(size: .bits256)
  /// The administrator, whose password another process may change.
  let administrator: CurrentAdministrator
  let keys: SigningKeys
  /// Where acts are recorded.
  package let audit: AuditLog

  /// Makes an account service.
  /// - Parameter uptime: the clock of rates and lockouts. Changes of the wall clock do not affect it.
  /// - Parameter hashing: runs blocking work on a bounded pool.
  /// - Parameter adoptGuest: copies a guest's bookmarks into a user's store.
  /// - Parameter lists: the changes to shared lists when an account is deleted.
  /// - Parameter issuerDocuments: fetches the documents of the issuers; nil when there are none.
  package init(
    stores: DatabaseManager, keys: SigningKeys, settings: AccountSettings,
    now: @escaping @Sendable () -> Timestamp,
    uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    hashing: @escaping BlockingRun,
    adoptGuest: @escaping AdoptGuest, lists: ListErasure,
    issuerDocuments: (any IssuerDocuments)? = nil
  ) {
    audit = AuditLog(settings.audit, now: now)
    self.settings = settings
    self.now = now
    self.uptime = uptime
    self.adoptGuest = adoptGuest
    accounts = AccountStore(stores: stores, lists: lists)
    tokens = TokenSigner(keys: keys, settings: settings)
    self.hashing = PasswordHashing(
      run: hashing, atOnce: settings.hashesAtOnce, waiting: settings.hashesWaiting,
      parameters: settings.scrypt)
    self.keys = keys
    administrator = CurrentAdministrator(settings.administrator, epoch: settings.administratorEpoch)
    proofs = ProofCache(
      keys: keys, longest: settings.isShared ? AccountSettings.sharedProofAge : nil, uptime: uptime)
    lockouts = Lockouts(failures: settings.failuresBeforeLockout)
    guestRate = AddressRate(count: settings.guestsPerHour, seconds: 3_600)
    guestBytes = AddressRate(
      count: Int(clamping: settings.guestBytesPerDay / 1_024),
      seconds: AccountSettings.newGuestSeconds)
    passwordRate = AddressRate(count: settings.passwordsPerMinute, seconds: 60)
    provenRate = AddressRate(count: settings.passwordsPerMinute, seconds: 60)
    issuers =
      issuerDocuments.map { documents in
        settings.issuers.map { IssuerKeys(of: $0, documents: documents, now: now) }
      } ?? []
  }

  /// Repeats the erasures that a restored backup has undone: deletes the account, guest or list and erases the
  /// store. Named, staged and system stores are not changed. A list that a user of them owns, and that is not one of them,
  /// was handed on after the backup: its other members keep it.
  /// - Returns: how many of the stores existed.
  /// - Throws: the stores' errors. The call can be repeated.
  package func eraseAgain(_ names: [StoreName]) async throws -> Int {
    var stores = Set<StoreName>()
    var users = Set<AccountID>()
    for name in names {
      switch name {
      case .guest(let id): stores.formUnion(try await accounts.endGuest(id) + [name])
      case .user(let id):
        stores.insert(name)
        users.insert(id)
      case .list(let id): stores.formUnion(try await accounts.endList(id) + [name])
      case .named, .staged, .system: break
      }
    }
    if !users.isEmpty { stores.formUnion(try await accounts.endUsers(users, handingListsOn: true)) }
    var count = 0
    let logged = Set(names)
    for store in stores {
      if try await accounts.erase(store, isNoted: !logged.contains(store)).wasThere { count += 1 }
    }
    return count
  }

  /// Ends the cached proofs of a person, and those of their answers that wait, after a session or more has ended durably.
  /// - Parameter session: the only session that has ended; nil for all of them.
  func endProofs(of person: Author, session: String? = nil) {
    proofs.end { principal in
      session.map { principal.tokenID == $0 } ?? (principal.author == person)
    }
    accounts.stores.subscriptions.checkRights(of: [person])
  }

  /// When an account was created, RFC 3339; nil for a guest, about whom nothing is stored.
  /// - Throws: the system store's errors.
  package func creation(of principal: Principal) async throws -> String? {
    guard principal.kind == .user, let name = try? UserName(given: principal.username ?? "") else {
      return nil
    }
    return try await accounts.document(name)?.createdAt
  }

  /// Creates a guest: a random id and a token that proves it. Nothing is stored. The first write creates the
  /// guest's store.
  /// - Throws: `tooMany`; `storageFull` while the disk's last space is kept for others.
  package func createGuest(
    from address: ClientAddress
  ) async throws -> (id: AccountID, token: IssuedToken) {
    try accounts.stores.requireSpaceForNewcomers()
    try guestRate.take(address, at: uptime())
    let id = AccountID.random()
    let session = try tokens.issue(.guest, id, name: nil, epoch: 0, at: now())
    return (id, session.token)
  }

  private static let newGuestsFull =
    "The new guests of this address have reached their limit for a day. Sign up, or try again later"

  /// What counts the bytes that a caller writes for the caller's address; nil for everybody but a guest who is new.
  package func meter(of principal: Principal, from address: ClientAddress) -> WriteMeter? {
    guard principal.kind == .guest, let start = principal.startedAt,
      now() < start.adding(seconds: AccountSettings.newGuestSeconds)
    else { return nil }
    return WriteMeter(
      admit: { [guestBytes, uptime] in
        try guestBytes.check(address, at: uptime(), or: Self.newGuestsFull)
      },
      count: { [guestBytes, uptime] bytes in
        guestBytes.add((bytes + 1_023) / 1_024, to: address, at: uptime())
      })
  }

  /// The guest of a token. The guest may already be adopted; ``adopt(_:into:)`` decides whether another adoption is
  /// allowed.
  /// - Returns: nil without a token, if it has expired, or if its session or its key has ended.
  /// - Throws: `invalidToken` for any other token that is not a guest's.
  package func guest(provedBy token: String?) async throws -> AccountID? {
    guard let token, let principal = try await bearer(of: token) else { return nil }
    guard principal.kind == .guest else { throw ServiceError.invalidToken("no guest's") }
    return principal.id
  }

  /// Whom a token proves that comes with a log-in; nil if it has expired, or if its session or its key has ended. Such a
  /// token does not make a right password wrong.
  /// - Throws: `invalidToken`.
  package func bearer(of token: String) async throws -> Principal? {
    let principal: Principal
    do { principal = try await verify(token: token).principal } catch {
      switch ServiceError(error)?.code {
      case .expiredToken: return nil
      case .invalidToken where tokens.isOfNoKey(token, at: now()): return nil
      default: throw error
      }
    }
    if case .ended = try await accounts.standing(of: principal) { return nil }
    return principal
  }

  /// Adopts a guest's bookmarks for a user, and what waits of other guests. The first step is the claim, which only one
  /// user can have and which ends the guest's tokens. The bookmarks follow, and then a record that the adoption is
  /// complete. After a failure, the user's next log-in or the daily sweep completes the missing steps, without the
  /// guest's token.
  ///
  /// When the account or the disk has no space for the guest's data, they wait, too: a log-in that failed for that would
  /// keep the owner from making space, with each later one that brings the same guest. So do those of a damaged store.
  /// - Returns: why data of a guest wait; nil if none do.
  /// - Throws: `guestSpent`; the stores' errors.
  func adopt(_ guest: AccountID?, into user: VerifiedUser) async throws -> ServiceError? {
    let account = AccountKeys.user(user.name)
    var waiting: ServiceError?
    if let guest {
      try await accounts.claim(guest: guest, for: user.name, id: user.id)
      do { try await carry(guest, into: user.id, account) } catch {
        let waits: [ServiceError.Code?] = [.quotaExceeded, .storageFull, .damaged, .integrity]
        waiting = ServiceError(error)
        guard waits.contains(waiting?.code) else { throw error }
      }
    }
    return await carry(user.adopting.filter { $0 != guest }, into: user.id, account) ?? waiting
  }

  /// Copies what waits of guests that a user has claimed. The next log-in or the sweep copies what this can't.
  /// - Returns: why something still waits; nil if nothing does.
  func carry(
    _ guests: [AccountID], into user: AccountID, _ account: DocumentID
  ) async -> ServiceError? {
    var waiting: ServiceError?
    for guest in guests {
      do { try await carry(guest, into: user, account) } catch {
        waiting = ServiceError(error) ?? .ended
      }
    }
    return waiting
  }

  /// Copies a claimed guest's bookmarks. The adoption is recorded as complete only when nothing remains in the
  /// guest's store. Does nothing when the claim was undone meanwhile.
  /// - Parameter account: the user's document in the system store.
  func carry(_ guest: AccountID, into user: AccountID, _ account: DocumentID) async throws {
    endProofs(of: .guest(guest))
    let claim = try await accounts.read(orAbsent: nil) { view in
      try AccountStore.claim(of: guest, by: user, in: view)
    }
    guard let claim, try await adoptGuest(guest, user, claim) else { return }
    try await accounts.completeAdoption(of: guest, by: account, id: user)
  }

  /// Erases an account or a guest. The name and the password are deleted and all tokens and sessions have ended
  /// before the store is erased. If erasing the store fails, a record remains and ``finishErasures()`` repeats it.
  ///
  /// The administrator has neither documents nor a store, so nothing is erased for one.
  /// - Parameter handsListsOn: whether shared lists that the user owns are transferred to another member. Otherwise
  ///   they are deleted.
  /// - Throws: the store's errors; `guestSpent` for a guest that a user has adopted in the meantime.
  package func erase(_ principal: Principal, handingListsOn handsListsOn: Bool = false) async throws
  {
    let ended: [StoreName]
    switch principal.kind {
    case .guest:
      ended = try await accounts.endGuest(principal.id)
      if ended.isEmpty { throw ServiceError.guestSpent }
    case .user:
      let name = try UserName(given: principal.username ?? "")
      ended = try await accounts.endUser(
        AccountKeys.user(name), id: principal.id, handingListsOn: handsListsOn)
    case .administrator: return
    }
    endProofs(of: principal.author)
    audit.note(AuditEvent(.erased, of: principal.id, about: principal.kind.rawValue))
    for store in ended { try await accounts.erase(store) }
  }

  /// Erases a store that is recorded to be erased (``Stores/StoreChanges/noteErasure(of:)``) and removes the
  /// record.
  /// - Throws: the store's errors. The next start repeats the erasure then.
  package func erase(store: StoreName) async throws { try await accounts.erase(store) }

  /// Whether an account or a guest was erased, and not only logged out. Asks the system store.
  /// - Throws: the system store's errors.
  package func isErased(_ principal: Principal) async throws -> Bool {
    try await accounts.isErased(principal)
  }

  /// Erases the store of an erased account or guest again, because a write that was admitted earlier may have created
  /// it again. Does nothing for others.
  /// - Throws: the store's errors.
  package func eraseStoreAgain(of principal: Principal) async throws {
    if try await isErased(principal) { try await eraseAgain(principal.store) }
  }

  /// Erases the store of an account that was erased before.
  func eraseAgain(_ store: StoreName) async throws {
    try await accounts.noteErasure(of: store)
    try await accounts.erase(store)
  }

  /// Erases the stores whose erasure was not complete when the service stopped. Runs once at every start, before
  /// requests are accepted. Reads one index. A store that can't be erased is left for the next start.
  /// - Parameter limit: if other processes erase, too: an erasure that was recorded later is left alone.
  /// - Parameter keepingLists: whether the stores of lists are left alone.
  /// - Returns: the failures. They include damage that hides which stores are to be erased; it does not prevent the
  ///   start.
  /// - Throws: the system store's errors.
  package func finishErasures(
    begunBefore limit: Timestamp? = nil, keepingLists: Bool = false
  ) async throws -> [any Error] {
    let pending = try await accounts.pendingErasures(before: limit)
    var failures: [any Error] = pending.isComplete ? [] : [AccountStore.unreadable("an erasure's")]
    var knowsGuests = true
    for erasure in pending.found {
      if keepingLists, case .list = erasure.store { continue }
      // One look at the guests shows for all that some can't be read.
      if erasure.isRest, !knowsGuests { continue }
      do {
        let isComplete = try await accounts.erase(erasure.store, isNoted: !erasure.isRest)
          .isComplete
        knowsGuests = knowsGuests && isComplete
      } catch { failures.append(error) }
    }
    if !knowsGuests {
      failures.append(AccountStore.unreadable("a guest's, perhaps of a user who was erased"))
    }
    return failures
  }
}

/// A rate limit for addresses: at most `count` times in any window of so many seconds.
///
/// It is the generic cell rate algorithm (ITU-T I.371, annex A). Half of the count is the burst and the other half
/// is spread over the window, because a burst may come just before a window's steady flow. Time is the machine's
/// uptime, so that a change of the wall clock does not start a new window. The limit tracks a bounded number of
/// addresses, those seen last.
final class AddressRate: Sendable {
  /// The time between two requests of the steady flow.
  private let interval: Duration
  /// How far an address may be ahead of the steady flow.
  private let tolerance: Duration
  /// The time at which each address is level with the steady flow again.
  private let arrivals: Mutex<BoundedLRU<ClientAddress, ContinuousClock.Instant>>

  /// Makes a limit of `count` (clamped to 1 ... 2³⁰) in `seconds`.
  init(count: Int, seconds: Int64) {
    let count = Int64(min(max(count, 1), 1 << 30))
    let burst = (count + 1) / 2
    let steady = max(1, count - burst)
    interval = .nanoseconds((seconds * 1_000_000_000 + steady - 1) / steady)
    tolerance = interval * (burst - 1)
    arrivals = Mutex(BoundedLRU(capacity: AccountSettings.trackedAddresses))
  }

  /// Counts one request.
  /// - Throws: `tooMany`, with the seconds after which another request is allowed.
  func take(_ address: ClientAddress, at now: ContinuousClock.Instant) throws {
    try check(address, adding: interval, at: now, or: "Too many requests from this address.")
  }

  /// Checks that another request is allowed, and adds its time to the address.
  /// - Parameter time: zero if the request is counted later (``add(_:to:at:)``).
  /// - Parameter reason: what the error says.
  /// - Throws: as ``take(_:at:)``.
  func check(
    _ address: ClientAddress, adding time: Duration = .zero, at now: ContinuousClock.Instant,
    or reason: String
  ) throws {
    let wait: Duration = arrivals.withLock { [tolerance] arrivals in
      let due = max(arrivals[address] ?? now, now)
      let wait = now.duration(to: due) - tolerance
      if wait <= .zero, time > .zero { arrivals[address] = due + time }
      return wait
    }
    guard wait > .zero else { return }
    throw ServiceError(.tooMany, reason, retryAfterSeconds: wait.secondsRoundedUp)
  }

  /// Counts what was used already, also beyond the limit.
  func add(_ count: Int64, to address: ClientAddress, at now: ContinuousClock.Instant) {
    let interval = interval * count
    arrivals.withLock { arrivals in
      arrivals[address] = max(arrivals[address] ?? now, now) + interval
    }
  }
}
