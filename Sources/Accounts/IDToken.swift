import Documents

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
  init(_ token: String) throws(AccountError) {
    let form = try CompactForm(token)
    guard let header = try? ParsedJSON(form.header, limits: .small).root,
      header.kind == .object, !Self.refused.contains(where: { header[$0] != nil }),
      let algorithm = Algorithm(header["alg"]), let key = KeyName(header["kid"], algorithm)
    else { throw .invalidToken("header of an ID token") }
    // Issuers sign other things with the same keys, and say so here: `at+jwt`, `logout+jwt`.
    guard header["typ"].map({ $0.stringEquals("JWT") || $0.stringEquals("jwt") }) ?? true else {
      throw .invalidToken("type of an ID token")
    }
    guard let root = try? ParsedJSON(form.payload, limits: .small).root,
      let claims = IDTokenClaims(root)
    else { throw .invalidToken("claims of an ID token") }
    self.key = key
    self.claims = claims
    signature = form.signature
    signed = form.signed
  }
}
