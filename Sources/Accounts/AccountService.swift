import Crypto
package import Documents
package import IPAddresses
package import Stores
import Synchronization

/// Who may do what as whom: guests, users, passwords, tokens and sessions.
///
/// Accounts are documents of the system store, so whatever keeps stores keeps them:
/// - `user:<hash of the name's key>`: that the name is somebody's, without the name;
/// - the local document of the same name: the name and the password's hash. Local documents have no
///   history, so that erasing an account leaves neither behind;
/// - `guest:<id>`: that a guest has become a user's, or was erased;
/// - `erasure:<id>`: a store that is to be erased and may not be yet;
/// - the local document `revoked:<session>`: a session that was logged out; it expires with the
///   session's last token;
/// - the local document `exchanged:<hash>`: an ID token of another issuer that was used; it expires with the
///   token. Whoever comes with one is a `user:` without a local document.
///
/// One process serves one data directory, so what this process remembers about proofs is complete; what it
/// does not remember it reads from the store.
package final class AccountService: Sendable {
  /// Runs a closure that blocks (hashing a password takes 50 ms) off Swift's own threads.
  package typealias BlockingRun =
    @Sendable (_ work: @escaping @Sendable () -> [UInt8]) async throws -> [UInt8]
  /// Carries a guest's bookmarks into a user's store; must be safe to repeat. False while something has to wait
  /// in the guest's store: it is tried again at each log-in.
  package typealias AdoptGuest =
    @Sendable (_ guest: AccountID, _ user: AccountID) async throws -> Bool

  let settings: AccountSettings
  let now: @Sendable () -> Timestamp
  let uptime: @Sendable () -> ContinuousClock.Instant
  let adoptGuest: AdoptGuest
  let accounts: AccountStore
  let tokens: TokenSigner
  let hashing: PasswordHashing
  let proofs: ProofCache
  let verifications: SharedVerifications
  let lockouts: Lockouts
  let guestRate: AddressRate
  let passwordRate: AddressRate
  let issuers: [IssuerKeys]
  /// What remembered passwords are hashed under.
  let passwordKey = SymmetricKey(size: .bits256)
  /// Ends the administrator's tokens with the process: nothing is stored for them.
  let administratorEpoch = Int.random(in: 1...Int(Int32.max))

  /// An account service.
  /// - Parameter uptime: what rates and locks are measured by, which no step of the wall clock moves.
  /// - Parameter hashing: runs blocking work on a bounded pool.
  /// - Parameter adoptGuest: carries a guest's bookmarks into a user's store.
  /// - Parameter lists: what the end of an account does to shared lists.
  /// - Parameter issuerDocuments: gets what the settings' issuers publish; nil where there are no issuers.
  package init(
    stores: DatabaseManager, keys: SigningKeys, settings: AccountSettings,
    now: @escaping @Sendable () -> Timestamp,
    uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    hashing: @escaping BlockingRun,
    adoptGuest: @escaping AdoptGuest, lists: ListErasure = .none,
    issuerDocuments: (any IssuerDocuments)? = nil
  ) {
    self.settings = settings
    self.now = now
    self.uptime = uptime
    self.adoptGuest = adoptGuest
    accounts = AccountStore(stores: stores, lists: lists)
    tokens = TokenSigner(keys: keys, settings: settings)
    self.hashing = PasswordHashing(
      run: hashing, atOnce: settings.hashesAtOnce, waiting: settings.hashesWaiting,
      parameters: settings.scrypt)
    proofs = ProofCache(keys: keys)
    verifications = SharedVerifications()
    lockouts = Lockouts(failures: settings.failuresBeforeLockout)
    guestRate = AddressRate(count: settings.guestsPerHour, seconds: 3_600)
    passwordRate = AddressRate(count: settings.passwordsPerMinute, seconds: 60)
    issuers =
      issuerDocuments.map { documents in
        settings.issuers.map { IssuerKeys(of: $0, documents: documents, now: now) }
      } ?? []
  }
}

extension AccountService {
  /// Erases once more who was erased after a backup was made that brought them back: the account or the guest
  /// ends, and the store is erased. Names of anything but people's own stores are left alone.
  /// - Returns: how many of the stores were there.
  /// - Throws: the stores' errors; it may be done again.
  package func eraseAgain(_ names: [StoreName]) async throws -> Int {
    var stores = Set<StoreName>()
    var users = Set<AccountID>()
    for name in names {
      switch name {
      case .guest(let id):
        stores.insert(name)
        stores.formUnion(try await accounts.endGuest(id))
      case .user(let id):
        stores.insert(name)
        users.insert(id)
      case .list(let id): stores.formUnion(try await accounts.endList(id).union([name]))
      case .named, .staged, .system: break
      }
    }
    if !users.isEmpty { stores.formUnion(try await accounts.endUsers(users)) }
    var count = 0
    for store in stores {
      if try await accounts.erase(store) { count += 1 }
    }
    return count
  }
}

extension AccountService {
  /// When somebody's account was made, RFC 3339; nil for a guest, of whom nothing is noted.
  /// - Throws: the system store's errors.
  package func creation(of principal: Principal) async throws -> String? {
    guard principal.kind == .user, let name = try? UserName(given: principal.username ?? "") else {
      return nil
    }
    return try await accounts.user(name)?.document.createdAt
  }
}

extension AccountService {
  /// Makes a guest: a random id and the token that proves it. Nothing is stored; the guest's store is made
  /// at the first write.
  /// - Throws: `tooMany`.
  package func createGuest(
    from address: ClientAddress
  ) async throws -> (id: AccountID, token: IssuedToken) {
    try guestRate.take(address, at: uptime())
    var generator = SystemRandomNumberGenerator()
    let id = AccountID.random(using: &generator)
    let session = try tokens.issue(.guest, id, name: nil, epoch: 0, at: now())
    return (id, session.token)
  }

  /// The guest whom a token proves, one whose bookmarks have gone to an account included: whether it may
  /// still be adopted is for ``adopt(_:into:)`` to say.
  func guest(provedBy token: String) async throws -> AccountID {
    let principal = try tokens.verify(token, at: now()).principal
    guard principal.kind == .guest else { throw ServiceError.invalidToken("no guest's") }
    if case .ended = try await accounts.standing(of: principal) {
      throw ServiceError.invalidToken("ended")
    }
    return principal.id
  }

  /// Makes a guest's bookmarks a user's. First the claim, which only one user can have and which ends the
  /// guest's tokens; then the bookmarks; then a note that they have arrived. Whatever is missing after a
  /// failure is done when the user logs in next, with or without the guest's token.
  /// - Throws: `guestSpent`.
  func adopt(_ guest: AccountID, into user: VerifiedUser) async throws {
    switch try await accounts.claim(guest: guest, for: user.name, id: user.id) {
    case .claimed: break
    case .spent: throw ServiceError.guestSpent
    case .noAccount: throw ServiceError.badCredentials
    }
    try await carry(guest, into: user.id, user.name)
  }

  /// Carries a claimed guest's bookmarks over. Where something has to wait, so does the note that they have
  /// arrived.
  func carry(
    _ guest: AccountID, into user: AccountID, _ name: UserName
  ) async throws {
    proofs.end { $0.id == guest }
    let isWhole: Bool
    isWhole = try await adoptGuest(guest, user)
    guard isWhole else { return }
    try await accounts.adopted(guest: guest, by: name, id: user)
  }
}

extension AccountService {
  /// Erases somebody: the name and the password are gone and every token and session has ended before the
  /// store is erased. What a failure leaves to be done is noted and done by ``finishErasures()``.
  ///
  /// There is nothing to erase of the administrator, who has neither documents nor a store.
  /// - Parameter handsListsOn: whether shared lists that the user owns go to another member, instead of ending.
  /// - Throws: the store's errors; `guestSpent` for a guest who has become a user meanwhile.
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
        name, id: principal.id, handingListsOn: handsListsOn)
    case .administrator:
      return
    }
    proofs.end { $0.id == principal.id }
    for store in ended { try await accounts.erase(store) }
  }

  /// Erases a store that is noted to be erased (``Stores/StoreChanges/noteErasure(of:)``) and forgets the note.
  /// - Throws: the store's errors; it is done at the next start then.
  package func erase(store: StoreName) async throws { try await accounts.erase(store) }

  /// Erases the store of somebody erased once more: a write that had been let in before may have made it
  /// anew. Nothing for anybody else.
  /// - Throws: the store's errors.
  package func sweepUp(after principal: Principal) async throws {
    guard try await accounts.isErased(principal) else { return }
    try await accounts.noteErasure(of: principal.store)
    try await accounts.erase(principal.store)
  }

  /// Sees to it that no new name equals one of before; once at every start, before requests are taken. The first
  /// time it looks at every account.
  /// - Throws: the system store's errors.
  package func prepareNames() async throws {
    try await accounts.noteFormerNames()
  }

  /// Erases the stores that were to be erased when the service stopped; once at every start, before
  /// requests are taken. Reads one index. A store that can't be erased is left for the next start.
  /// - Returns: why stores could not be erased; also that damage hides which they are, which keeps nobody from starting.
  /// - Throws: the system store's errors.
  package func finishErasures() async throws -> [any Error] {
    let pending: [StoreName]
    do { pending = try await accounts.pendingErasures() } catch {
      guard ServiceError(error)?.code == .integrity else { throw error }
      return [error]
    }
    var failures: [any Error] = []
    for store in pending {
      do { try await accounts.erase(store) } catch { failures.append(error) }
    }
    return failures
  }
}

/// A limit on how often one address may do something: never more than `count` times in any window of so
/// many seconds, wherever the window begins.
///
/// The generic cell rate algorithm (ITU-T I.371, annex A) with half of the count as burst and the other
/// half spread over the window, because a burst may always stand just before a window's steady flow.
/// Time is the machine's uptime, so that no step of the wall clock begins a new window.
/// It remembers a bounded number of addresses, those seen last.
final class AddressRate: Sendable {
  /// One step of the steady flow.
  private let interval: Duration
  /// How far ahead of the steady flow an address may run.
  private let tolerance: Duration
  /// When each address would be even with the steady flow again.
  private let arrivals: Mutex<BoundedLRU<ClientAddress, ContinuousClock.Instant>>

  /// A limit of `count` (at least 1, at most a million) in `seconds`.
  init(count: Int, seconds: Int64) {
    let count = Int64(min(max(count, 1), 1_000_000))
    let burst = (count + 1) / 2
    let steady = max(1, count - burst)
    interval = .milliseconds((seconds * 1_000 + steady - 1) / steady)
    tolerance = interval * (burst - 1)
    arrivals = Mutex(BoundedLRU(capacity: AccountSettings.trackedAddresses))
  }

  /// Counts one.
  /// - Throws: `tooMany`, with the seconds after which one more is right.
  func take(
    _ address: ClientAddress, at now: ContinuousClock.Instant
  ) throws {
    let (interval, tolerance) = (interval, tolerance)
    let wait: Duration = arrivals.withLock { arrivals in
      let due = max(arrivals[address] ?? now, now)
      let wait = now.duration(to: due) - tolerance
      if wait <= .zero { arrivals[address] = due + interval }
      return wait
    }
    guard wait > .zero else { return }
    throw ServiceError(
      .tooMany, "Too many requests from this address.",
      retryAfterSeconds: wait.secondsRoundedUp)
  }
}
