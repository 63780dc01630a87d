import Documents
import Stores

/// The claims of the service's tokens (RFC 7519 section 4; `auth_time` is from OpenID Connect Core 1.0, section 2). Times
/// are whole seconds since 1970.
struct TokenClaims: Sendable, Equatable {
  /// The kind of the owner.
  let kind: Principal.Kind
  /// `sub`: the owner's id.
  let subject: AccountID
  /// `name`, and `user` for the travel-sample's apps: the user name; nil for a guest.
  let name: String?
  /// `sid`: the session, the same in every renewal.
  let session: String
  /// `jti`: the id of this token.
  let tokenID: String
  /// `epoch`: the account's epoch when the token was issued.
  let epoch: Int
  /// `iat` and `nbf`: when the token was issued.
  let issuedAt: Int64
  /// `exp`: when the token expires.
  let expiresAt: Int64
  /// `auth_time`: when the session began, by a log-in. It is the same in every renewal.
  let startedAt: Int64

  /// The claims as JSON.
  func bytes(issuer: String, audience: String) -> [UInt8] {
    return JSONWriter.object { writer in
      writer.member("iss", issuer)
      writer.member("aud", audience)
      writer.member("sub", subject.text)
      writer.member("kind", kind.rawValue)
      if let name {
        writer.member("name", name)
        writer.member("user", name)
      }
      writer.member("sid", session)
      writer.member("jti", tokenID)
      writer.member("epoch", epoch)
      writer.member("iat", Int(issuedAt))
      writer.member("nbf", Int(issuedAt))
      writer.member("exp", Int(expiresAt))
      writer.member("auth_time", Int(startedAt))
    }
  }
}

extension TokenClaims {
  /// Reads the claims of a token whose signature was verified, for an issuer and an audience. Every claim must be
  /// present and have its type; a time is a number written as an integer.
  /// - Returns: nil for anything else.
  init?(_ node: JSONNode, issuer: String, audience: String) {
    guard node.kind == .object, node["iss"]?.stringEquals(issuer) ?? false,
      node["aud"]?.stringEquals(audience) ?? false,
      let kind = node["kind"]?.string.flatMap(Principal.Kind.init),
      let subject = node["sub"]?.string.flatMap(AccountID.init),
      let session = Self.id(node["sid"]), let tokenID = Self.id(node["jti"]),
      let epoch = node["epoch"]?.int, let issuedAt = node["iat"]?.int,
      let notBefore = node["nbf"]?.int, let expiresAt = node["exp"]?.int,
      let startedAt = node["auth_time"]?.int,
      issuedAt >= 0, notBefore >= issuedAt, expiresAt > notBefore, startedAt >= 0,
      startedAt <= notBefore
    else { return nil }
    let name = node["name"]?.string
    guard (kind == .guest) == (name == nil) else { return nil }
    self.init(
      kind: kind, subject: subject, name: name, session: session, tokenID: tokenID, epoch: epoch,
      issuedAt: Int64(notBefore), expiresAt: Int64(expiresAt), startedAt: Int64(startedAt))
  }

  /// The owner as a request's principal, with the key that signed the token.
  func principal(by key: KeyID) -> Principal {
    Principal(
      kind: kind, id: subject, username: name,
      store: kind == .guest ? .guest(subject) : .user(subject), tokenID: session,
      expiresAt: Timestamp(seconds: expiresAt), issuedAt: Timestamp(seconds: issuedAt),
      startedAt: Timestamp(seconds: startedAt), epoch: epoch, keyID: key)
  }

  private static func id(_ node: JSONNode?) -> String? {
    guard let text = node?.string, text.utf8.count == 32, Hex.bytes(text.utf8) != nil else {
      return nil
    }
    return text
  }
}
