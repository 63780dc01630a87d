import Documents
import Stores

/// The parts of another issuer's ID token, not verified (OpenID Connect Core 1.0, section 2): a ``CompactForm``
/// whose header and claims are strict JSON without repeated names.
struct IDToken: Sendable {
  /// The accepted algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1). All use public keys, so that no public
  /// key can be passed off as a shared secret. `none` is not accepted.
  enum Algorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"

    /// The algorithm with exactly this name; nil for any other.
    init?(_ node: JSONNode?) {
      guard let named = Self.allCases.first(where: { node?.stringEquals($0.rawValue) ?? false })
      else { return nil }
      self = named
    }
  }

  /// What identifies a key. The id is only compared byte by byte.
  struct KeyName: Sendable, Hashable {
    static let maximumBytes = 256

    /// `kid`.
    let id: [UInt8]
    /// `alg`.
    let algorithm: Algorithm

    /// Reads `kid`; nil for an id that is missing, empty or too long.
    init?(_ node: JSONNode?, _ algorithm: Algorithm) {
      guard let id = node?.string.map({ Array($0.utf8) }),
        (1...Self.maximumBytes).contains(id.count)
      else { return nil }
      self.id = id
      self.algorithm = algorithm
    }
  }

  /// The key that the token claims to be signed with.
  let key: KeyName
  let claims: IDTokenClaims
  /// The signature, not checked.
  let signature: [UInt8]
  let signed: [UInt8]

  /// Header parameters that contain a key, name a URL for one, or change the meaning of the rest (RFC 7515 section
  /// 4.1, RFC 7516, RFC 7797). A token with one of them is refused. Other unknown parameters are ignored.
  private static let refused = [
    "jku", "jwk", "x5u", "x5c", "crit", "b64", "enc", "zip", "epk", "p2s", "p2c",
  ]

  /// Reads a token.
  /// - Throws: `invalidToken`.
  init(_ token: String) throws {
    let form = try CompactForm(token)
    guard let header = try? ParsedJSON(form.header, limits: .small).root,
      header.kind == .object, !Self.refused.contains(where: { header[$0] != nil }),
      let algorithm = Algorithm(header["alg"]), let key = KeyName(header["kid"], algorithm)
    else { throw ServiceError.invalidToken("header of an ID token") }
    // Issuers sign other kinds of tokens with the same keys and name the kind here: `at+jwt`, `logout+jwt`.
    guard header["typ"].map({ $0.stringEquals("JWT") || $0.stringEquals("jwt") }) ?? true else {
      throw ServiceError.invalidToken("type of an ID token")
    }
    guard let root = try? ParsedJSON(form.payload, limits: .small).root,
      let claims = IDTokenClaims(root)
    else { throw ServiceError.invalidToken("claims of an ID token") }
    self.key = key
    self.claims = claims
    signature = form.signature
    signed = form.signed
  }
}

/// The claims of another issuer's ID token that the service uses (OpenID Connect Core 1.0, section 2). Times are
/// whole seconds since 1970. Names and e-mail addresses are not read, because they identify no one.
struct IDTokenClaims: Sendable, Equatable {
  /// The longest subject, in bytes (OpenID Connect Core 1.0, section 2).
  static let maximumSubjectBytes = 255

  /// `iss`.
  let issuer: String
  /// `sub`: the user. The issuer never gives it to another user.
  let subject: String
  /// `aud`: one or several audiences.
  let audiences: [String]
  /// `azp`: the party that asked for the token; nil when absent.
  let authorizedParty: String?
  /// `iat`.
  let issuedAt: Int64
  /// `nbf`; nil when absent.
  let notBefore: Int64?
  /// `exp`.
  let expiresAt: Int64

  /// Reads claims. Every claim that is used must have its type; a time is a number written as an integer.
  /// - Returns: nil for anything else, and for a security event (RFC 8417) such as a logout token.
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

  /// Checks the token's audience and times (OpenID Connect Core 1.0, section 3.1.3.7).
  /// - Parameter age: the greatest age of the token, in seconds.
  /// - Parameter skew: how far the clocks may differ, in seconds.
  /// - Returns: the time from which on the token is refused.
  /// - Throws: `invalidToken`.
  func check(
    for issuer: TrustedIssuer, at now: Timestamp, age: Int64, skew: Int64
  ) throws -> Timestamp {
    guard issuer.url.equalsBytes(of: self.issuer) else {
      throw ServiceError.invalidToken("another issuer")
    }
    for party in audiences + [authorizedParty].compactMap({ $0 }) {
      guard issuer.audiences.contains(where: { $0.equalsBytes(of: party) }) else {
        throw ServiceError.invalidToken("for another audience")
      }
    }
    guard audiences.count == 1 || authorizedParty != nil else {
      throw ServiceError.invalidToken("for several audiences, without azp")
    }
    guard expiresAt - issuedAt <= Self.longestLife else {
      throw ServiceError.invalidToken("is valid for too long")
    }
    let latest = now.adding(seconds: skew)
    guard Timestamp(seconds: issuedAt) <= latest,
      notBefore.map({ Timestamp(seconds: $0) <= latest }) ?? true
    else { throw ServiceError.invalidToken("not yet valid") }
    let end = Timestamp(seconds: min(expiresAt, issuedAt + age)).adding(seconds: skew)
    guard now < end else { throw ServiceError.invalidToken("expired") }
    return end
  }

  /// The longest time between `iat` and `exp`, in seconds: 1 day. A token with a longer time is not accepted as an
  /// ID token.
  private static let longestLife: Int64 = 86_400
  /// The latest time that is accepted: the end of the year 9999.
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
