import Documents

/// What another issuer's ID token says (OpenID Connect Core 1.0, section 2), as far as it counts here. Times are
/// whole seconds since 1970. Names and e-mail addresses are not read: they are nobody's identity.
struct IDTokenClaims: Sendable, Equatable {
  /// The longest subject, in bytes (OpenID Connect Core 1.0, section 2).
  static let maximumSubjectBytes = 255

  /// `iss`.
  let issuer: String
  /// `sub`: whom the issuer means, for ever.
  let subject: String
  /// `aud`: for whom the token is, one or several.
  let audiences: [String]
  /// `azp`: who asked for it; nil where it is not said.
  let authorizedParty: String?
  /// `iat`.
  let issuedAt: Int64
  /// `nbf`; nil where it is not said.
  let notBefore: Int64?
  /// `exp`.
  let expiresAt: Int64

  /// Reads claims. Each that counts must be of its type; a time is a number written as an integer.
  /// - Returns: nil for anything else, and for a security event (RFC 8417), such as the token by which an issuer
  ///   logs somebody out.
  init?(_ node: JSONNode) {
    guard node.kind == .object, node["events"] == nil, let issuer = node["iss"]?.string,
      let subject = node["sub"]?.string,
      (1...Self.maximumSubjectBytes).contains(subject.utf8.count),
      let audiences = Self.audiences(node["aud"]), let issuedAt = Self.time(node["iat"]),
      let expiresAt = Self.time(node["exp"]), expiresAt > issuedAt
    else { return nil }
    let (notBefore, party) = (Self.time(node["nbf"]), node["azp"]?.string)
    guard (node["nbf"] == nil) == (notBefore == nil), (node["azp"] == nil) == (party == nil) else {
      return nil
    }
    self.issuer = issuer
    self.subject = subject
    self.audiences = audiences
    authorizedParty = party
    self.issuedAt = issuedAt
    self.notBefore = notBefore
    self.expiresAt = expiresAt
  }

  /// Checks for whom the token is, and its times (OpenID Connect Core 1.0, section 3.1.3.7).
  /// - Parameter age: how old the token may be, in seconds.
  /// - Parameter skew: how far the clocks may be apart, in seconds.
  /// - Returns: the first moment at which the token is refused.
  /// - Throws: `invalidToken`.
  func check(
    for issuer: TrustedIssuer, at now: Timestamp, age: Int64, skew: Int64
  ) throws(AccountError) -> Timestamp {
    guard issuer.url.equalsBytes(of: self.issuer) else { throw .invalidToken("another issuer") }
    for party in audiences + [authorizedParty].compactMap({ $0 }) {
      guard issuer.audiences.contains(where: { $0.equalsBytes(of: party) }) else {
        throw .invalidToken("for another audience")
      }
    }
    guard audiences.count == 1 || authorizedParty != nil else {
      throw .invalidToken("for several audiences, without azp")
    }
    guard expiresAt - issuedAt <= Self.longestLife else { throw .invalidToken("lives too long") }
    let latest = now.adding(seconds: skew)
    guard Timestamp(seconds: issuedAt) <= latest,
      notBefore.map({ Timestamp(seconds: $0) <= latest }) ?? true
    else { throw .invalidToken("not yet valid") }
    let end = Timestamp(seconds: min(expiresAt, issuedAt + age)).adding(seconds: skew)
    guard now < end else { throw .invalidToken("expired") }
    return end
  }

  /// The longest time between `iat` and `exp`, in seconds: one day. What lives longer is no ID token.
  private static let longestLife: Int64 = 86_400
  /// The latest time that is read: the end of the year 9999.
  private static let latest = 253_402_300_799

  private static func time(_ node: JSONNode?) -> Int64? {
    guard let time = node?.int, (0...latest).contains(time) else { return nil }
    return Int64(time)
  }

  private static func audiences(_ node: JSONNode?) -> [String]? {
    guard let node else { return nil }
    if let one = node.string { return [one] }
    let several = node.elements.compactMap(\.string)
    return several.isEmpty || several.count != node.count ? nil : several
  }
}
