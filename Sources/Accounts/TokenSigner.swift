import Documents
import Stores

/// Signs and verifies tokens: JSON Web Tokens (RFC 7519) in the compact form of RFC 7515, `HS256`.
///
/// A token is accepted only in the exact form that the service writes; see ``CompactToken``. The header's `kid`
/// must be one of the service's keys, and `alg` must be that key's algorithm.
struct TokenSigner: Sendable {
  private let keys: SigningKeys
  private let settings: AccountSettings

  init(keys: SigningKeys, settings: AccountSettings) {
    self.keys = keys
    self.settings = settings
  }

  /// The purpose of a token. A token for one purpose is not accepted for the other.
  enum Purpose: Sendable {
    /// To authenticate requests.
    case session
    /// To choose another password, once.
    case passwordReset
  }

  struct Verified: Sendable {
    /// The token's owner.
    let principal: Principal
    /// The time from which on the token is refused: its own expiry plus the skew, or its key's end.
    let goodUntil: Timestamp
  }

  /// How long a token of a kind is valid, in seconds.
  func lifetime(of kind: Principal.Kind, for purpose: Purpose = .session) -> Int64 {
    switch purpose {
    case .passwordReset: AccountSettings.resetLifetime
    case .session: kind == .guest ? settings.guestLifetime : settings.userLifetime
    }
  }

  /// When a token that is issued now expires. Renewals don't make a session longer than
  /// ``AccountSettings/sessionLifetime``; a guest's goes on while it is used, because a guest can't log in again.
  func end(
    of kind: Principal.Kind, for purpose: Purpose = .session, startedAt start: Timestamp,
    at now: Timestamp
  ) -> Timestamp {
    let end = now.adding(seconds: lifetime(of: kind, for: purpose))
    return kind == .guest ? end : min(end, start.adding(seconds: settings.sessionLifetime))
  }

  /// `aud`: the audience for a purpose.
  private func audience(for purpose: Purpose) -> String {
    switch purpose {
    case .session: settings.audience
    case .passwordReset: settings.audience + "/password-reset"
    }
  }

  /// Whether tokens of a key are valid at a given time.
  func isGood(_ key: KeyID, at now: Timestamp) -> Bool { keys.key(key, at: now) != nil }

  /// Whether a token has the service's form and names a key that the service does not have, or has no more.
  func isOfNoKey(_ token: String, at now: Timestamp) -> Bool {
    (try? CompactToken(token)).map { !isGood($0.key, at: now) } ?? false
  }

  /// Issues a new token, of a new session or of a principal's.
  func issue(
    _ kind: Principal.Kind, _ id: AccountID, name: String?, epoch: Int,
    continuing principal: Principal? = nil, for purpose: Purpose = .session, at now: Timestamp
  ) throws -> Session {
    guard let key = keys.current else { throw ServiceError(.keys, "There is no key to sign with.") }
    // The clock may have gone back since the session began.
    let start = min(principal?.startedAt ?? now, now)
    let claims = TokenClaims(
      kind: kind, subject: id, name: name, session: principal?.tokenID ?? Hex.random(),
      tokenID: Hex.random(), epoch: epoch, issuedAt: now.seconds,
      expiresAt: end(of: kind, for: purpose, startedAt: start, at: now).seconds,
      startedAt: start.seconds)
    let token = IssuedToken(
      token: sign(
        claims.bytes(issuer: settings.issuer, audience: audience(for: purpose)), with: key),
      expiresAt: Timestamp(seconds: claims.expiresAt))
    return Session(principal: claims.principal(by: key.id), token: token)
  }

  /// Verifies a token's form, key, signature and times.
  /// - Throws: `invalidToken`, `expiredToken`.
  func verify(
    _ token: String, for purpose: Purpose = .session, at now: Timestamp
  ) throws -> Verified {
    let token = try CompactToken(token)
    guard let key = keys.key(token.key, at: now) else { throw ServiceError.invalidToken("key") }
    guard key.isSignature(token.form.signature, of: token.form.signed) else {
      throw ServiceError.invalidToken("signature")
    }
    guard let json = try? ParsedJSON(token.form.payload, limits: .small),
      let claims = TokenClaims(json.root, issuer: settings.issuer, audience: audience(for: purpose))
    else { throw ServiceError.invalidToken("claims") }
    let end = try checkTimes(of: claims, for: purpose, at: now)
    return Verified(principal: claims.principal(by: key.id), goodUntil: min(end, key.until ?? end))
  }

  private func checkTimes(
    of claims: TokenClaims, for purpose: Purpose, at now: Timestamp
  ) throws -> Timestamp {
    let (issued, end) = (Timestamp(seconds: claims.issuedAt), Timestamp(seconds: claims.expiresAt))
    // A clock that is set back makes tokens come from the future, and nobody is locked out by that. A clock that is far
    // ahead makes none that outlives two lifetimes.
    let ahead = lifetime(of: claims.kind, for: purpose) + settings.skew
    guard issued <= now.adding(seconds: ahead) else {
      throw ServiceError.invalidToken("not yet valid")
    }
    let start = Timestamp(seconds: claims.startedAt)
    guard end <= self.end(of: claims.kind, for: purpose, startedAt: start, at: issued) else {
      throw ServiceError.invalidToken("is valid for longer than any token")
    }
    let limit = end.adding(seconds: settings.skew)
    guard now < limit else { throw ServiceError.expiredToken }
    return limit
  }

  private func sign(_ claims: [UInt8], with key: SigningKey) -> Secret {
    let head = JSONWriter.object { writer in
      writer.member("alg", CompactToken.algorithm)
      writer.member("kid", key.id.text)
      writer.member("typ", CompactToken.type)
    }
    var token: [UInt8] = []
    Base64URL.append(head, to: &token)
    token.append(UInt8(ascii: "."))
    Base64URL.append(claims, to: &token)
    let signature = key.signature(of: token)
    token.append(UInt8(ascii: "."))
    Base64URL.append(signature, to: &token)
    return Secret(String(decoding: token, as: UTF8.self))
  }
}
