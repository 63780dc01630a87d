import Documents

/// The settings of accounts. Times are in seconds unless a name says otherwise.
package struct AccountSettings: Sendable {
  /// The issuer of the service's tokens (`iss`). Tokens of another issuer are refused.
  package var issuer = "hotel-bookmarks"
  /// The audience of the service's tokens (`aud`). Tokens for another audience are refused.
  package var audience = "hotel-bookmarks"
  /// How long a guest's token and store live from the guest's last use: 97 days. A traveller may be away for a season.
  /// The page warns from day 90 on.
  package static let guestSeconds: Int64 = 97 * 86_400
  /// How long a guest's token is valid. The service renews it while it is used.
  package var guestLifetime = AccountSettings.guestSeconds
  /// How long a user's token is valid: 14 days. The service renews it while it is used.
  package var userLifetime: Int64 = 14 * 86_400
  /// How long a session lasts after its log-in, however often its token is renewed: 365 days. A guest's lasts while it is
  /// used.
  package var sessionLifetime: Int64 = 365 * 86_400
  /// How old a token must be before it is renewed: 1 day.
  package var renewalAge: Int64 = 86_400
  /// How far the clocks of two machines may differ: 1 minute.
  package var skew: Int64 = 60
  /// How many guests one address prefix may create in any hour.
  package var guestsPerHour = 6_000
  /// How many bytes new guests of one address prefix may write in any day.
  package var guestBytesPerDay: Int64 = 1 << 30
  /// How long a guest is new, in seconds: 1 day.
  package static let newGuestSeconds: Int64 = 86_400
  /// How many passwords one address prefix may have hashed in any minute.
  package var passwordsPerMinute = 600
  /// The parameters for new password hashes.
  package var scrypt = ScryptParameters.standard
  /// How many passwords are hashed at once. One more runs for a caller that has no hash in progress and is not
  /// overdrawn. Each takes 32 MiB and a core.
  package var hashesAtOnce = 2
  /// How many passwords may wait to be hashed. One more fails with `hashingBusy`.
  package var hashesWaiting = 64
  /// How many different wrong passwords for one name from one address cause a lockout.
  package var failuresBeforeLockout = 5
  /// What the audit log records.
  package var audit = AuditLog.Mode.off
  /// The administrator's name and password hash; nil for a service without an administrator.
  package var administrator: Administrator?

  /// The epoch of the administrator's tokens if several processes accept them; nil for a random one, so that they end
  /// with the process.
  package var administratorEpoch: Int?
  /// Whether other processes change the same accounts. A proof is then checked in the system store each second.
  package var isShared = false

  /// The issuers whose ID tokens are exchanged for the service's tokens.
  package var issuers: [TrustedIssuer] = []

  package init() {}

  /// How long a guest's store is kept after the time of the guest's last use that it stores: the validity of a
  /// token, the ``skew``, and the half day (``GuestUse/noteAge``) by which the stored time may be older than the
  /// last token.
  package var guestKeeping: Int64 { guestLifetime + skew + GuestUse.noteAge }

  /// How long a token is valid with which a user chooses another password: 1 day.
  package static let resetLifetime: Int64 = 86_400
  /// How long a verified password is accepted again without hashing: 1 minute.
  package static let basicLifetime: Int64 = 60
  /// The greatest age of another issuer's ID token that is exchanged, whatever its own end: 1 hour.
  package static let idTokenAge: Int64 = 3_600
  /// The longest ID token, in bytes.
  package static let idTokenBytes = CompactForm.maximumBytes
  /// How long an issuer's keys are used without asking the issuer again: 10 minutes.
  package static let issuerKeysAge = IssuerKeys.freshSeconds
  /// How long an issuer's keys are used while the issuer does not answer: 6 hours.
  package static let issuerKeysLife = IssuerKeys.staleSeconds
  /// The shortest time between two attempts to fetch an issuer's keys: 30 seconds.
  package static let issuerAttempts = IssuerKeys.retrySeconds
  /// The longest answer of an issuer, in bytes.
  package static let issuerAnswerBytes = IssuerKeySet.limits.maximumBytes
  /// How long a password that was right at an address is compared there even while its name is locked: 7 days.
  package static let provenLifetime: Int64 = 7 * 86_400
  /// How many different passwords are compared in any hour while a name is locked for an address.
  package static let comparedWhileLocked = 10
  /// How many different wrong passwords of a name and an address are remembered. Each counts once.
  package static let rememberedWrongPasswords = 8
  /// How many verified tokens are cached.
  package static let cachedTokens = 16_384
  /// How many verified passwords are cached.
  package static let cachedPasswords = 1_024
  /// For how long a proof is used without a look at accounts that other processes change: 1 second.
  package static let sharedProofAge = Duration.seconds(1)
  /// How many addresses, or pairs of name and address, a limit tracks.
  package static let trackedAddresses = 10_000
}
