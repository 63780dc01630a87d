import JSON

/// What the composition root may set about accounts. Seconds unless a name says otherwise.
package struct AccountSettings: Sendable {
  /// Who issues the tokens (`iss`); tokens of another issuer are refused.
  package var issuer = "hotel-bookmarks"
  /// For whom the tokens are (`aud`); tokens for anybody else are refused.
  package var audience = "hotel-bookmarks"
  /// How long a guest's token works; renewed while in use. 30 days.
  package var guestLifetime: Int64 = 30 * 86_400
  /// How long a user's token works; renewed while in use. 14 days.
  package var userLifetime: Int64 = 14 * 86_400
  /// How old a token must be before it is renewed. One day.
  package var renewalAge: Int64 = 86_400
  /// How far the clocks of two machines may be apart. One minute.
  package var skew: Int64 = 60
  /// How many guests one address prefix may make in any hour.
  package var guestsPerHour = 6_000
  /// How many passwords one address prefix may have hashed in any minute.
  package var passwordsPerMinute = 600
  /// How passwords are hashed from now on.
  package var scrypt = ScryptParameters.standard
  /// Passwords hashed at once, and one more for who has none hashed yet: each takes 32 MiB and a core.
  package var hashesAtOnce = 2
  /// Passwords that may wait to be hashed; one more is `hashingBusy`.
  package var hashesWaiting = 64
  /// Wrong passwords for one name from one address before it is locked out.
  package var failuresBeforeLockout = 5
  /// The administrator's name and password; nil for a service without one.
  package var administrator: Administrator?

  /// Whose ID tokens are exchanged for ours.
  package var issuers: [TrustedIssuer] = []

  /// The defaults.
  package init() {}

  /// How long a guest's store is kept after it was last noted that the guest is here: as long as a token works
  /// (clocks may be ``skew`` apart), and the half a day that the note may be older than the last token.
  package var guestKeeping: Int64 { guestLifetime + skew + GuestUse.noteAge }

  /// How long a token works with which a user chooses another password. One day.
  package static let resetLifetime: Int64 = 86_400
  /// How long a password that was right is believed again without hashing. One minute.
  package static let basicLifetime: Int64 = 60
  /// How old an ID token of another issuer may be when it is exchanged, whatever its own end. One hour.
  package static let idTokenAge: Int64 = 3_600
  /// The longest ID token, in bytes.
  package static let idTokenBytes = CompactForm.maximumBytes
  /// How old an issuer's keys may be that are used without asking. 10 minutes.
  package static let issuerKeysAge = IssuerKeys.freshSeconds
  /// How old an issuer's keys may be that are used while it does not answer. 6 hours.
  package static let issuerKeysLife = IssuerKeys.staleSeconds
  /// How far apart two attempts to get an issuer's keys are. 30 seconds.
  package static let issuerAttempts = IssuerKeys.retrySeconds
  /// The longest answer of an issuer, in bytes.
  package static let issuerAnswerBytes = IssuerKeySet.limits.maximumBytes
  /// Tokens whose verification is remembered.
  package static let cachedTokens = 16_384
  /// Passwords whose verification is remembered.
  package static let cachedPasswords = 1_024
  /// Names and addresses, or addresses, that a limit remembers.
  package static let trackedAddresses = 10_000
}
