import Crypto
package import Documents
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
    @Sendable (_ guest: AccountID, _ user: AccountID) async throws(StoreError) -> Bool

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
  /// - Parameter issuerDocuments: gets what the settings' issuers publish; nil where there are no issuers.
  package init(
    stores: DatabaseManager, keys: SigningKeys, settings: AccountSettings,
    now: @escaping @Sendable () -> Timestamp,
    uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    hashing: @escaping BlockingRun,
    adoptGuest: @escaping AdoptGuest, issuerDocuments: (any IssuerDocuments)? = nil
  ) {
    self.settings = settings
    self.now = now
    self.uptime = uptime
    self.adoptGuest = adoptGuest
    accounts = AccountStore(stores: stores)
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
