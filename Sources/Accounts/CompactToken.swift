import Documents

/// A token taken apart, unverified: the compact form of RFC 7515 section 3.1 in the one spelling in which it is
/// made here. Three parts in base64url without padding; a header of exactly `alg`, `kid` and `typ` (so no `crit`,
/// `jku`, `jwk` or `x5u`), in strict JSON without repeated names.
struct CompactToken: Sendable {
  /// The longest token, in bytes.
  static let maximumBytes = 8 * 1_024
  /// `alg`: the one algorithm.
  static let algorithm = "HS256"
  /// `typ`.
  static let type = "JWT"

  /// The header's text.
  let header: [UInt8]
  /// `kid`: which key is said to have signed.
  let key: KeyID
  /// The claims' text, whatever it is.
  let payload: [UInt8]
  /// The signature, whatever it is.
  let signature: [UInt8]
  /// What is signed: header and claims as they stand in the token.
  let signed: [UInt8]

  /// Reads a token.
  /// - Throws: `invalidToken`.
  init(_ token: String) throws(AccountError) {
    guard token.utf8.count <= Self.maximumBytes else { throw .invalidToken("too long") }
    let parts = Array(token.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]),
      let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
    else { throw .invalidToken("not three parts in base64url") }
    guard let root = try? ParsedJSON(header, limits: .small).root, root.kind == .object,
      root.count == 3, root["alg"]?.stringEquals(Self.algorithm) ?? false,
      root["typ"]?.stringEquals(Self.type) ?? false,
      let id = root["kid"]?.string.flatMap(KeyID.init)
    else { throw .invalidToken("header") }
    self.header = header
    self.key = id
    self.payload = payload
    self.signature = signature
    signed = Array(parts[0]) + [UInt8(ascii: ".")] + parts[1]
  }
}
