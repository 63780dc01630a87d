import Documents
import JSON
import Stores

/// Another issuer's ID token taken apart, unverified (OpenID Connect Core 1.0, section 2): a ``CompactForm`` with
/// header and claims in strict JSON without repeated names.
struct IDToken: Sendable {
  /// The algorithms that are taken (RFC 7518 section 3.1, RFC 8037 section 3.1): public keys alone, so that no
  /// public key can be passed off as a shared secret, and `none` is no algorithm.
  enum Algorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"

    /// The algorithm of that very name.
    init?(_ node: JSONNode?) {
      guard let named = Self.allCases.first(where: { node?.stringEquals($0.rawValue) ?? false })
      else { return nil }
      self = named
    }
  }

  /// What a key is found by. The id is bytes and is used for nothing else.
  struct KeyName: Sendable, Hashable {
    /// The longest id, in bytes.
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

  /// Which key is said to have signed.
  let key: KeyName
  /// What it claims.
  let claims: IDTokenClaims
  /// The signature, whatever it is.
  let signature: [UInt8]
  /// What is signed.
  let signed: [UInt8]

  /// Headers that bring a key, name a place for one, or change what the rest means (RFC 7515 section 4.1, RFC 7516,
  /// RFC 7797): a token that has one is refused. Others that are unknown mean nothing here.
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
    // Issuers sign other things with the same keys, and say so here: `at+jwt`, `logout+jwt`.
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
      throw ServiceError.invalidToken("lives too long")
    }
    let latest = now.adding(seconds: skew)
    guard Timestamp(seconds: issuedAt) <= latest,
      notBefore.map({ Timestamp(seconds: $0) <= latest }) ?? true
    else { throw ServiceError.invalidToken("not yet valid") }
    let end = Timestamp(seconds: min(expiresAt, issuedAt + age)).adding(seconds: skew)
    guard now < end else { throw ServiceError.invalidToken("expired") }
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
