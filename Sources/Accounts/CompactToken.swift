import Documents
import Stores

/// The parts of one of the service's tokens, not verified. Only the exact form that the service writes is accepted:
/// a ``CompactForm`` whose header has exactly `alg`, `kid` and `typ` (so no `crit`, `jku`, `jwk` or `x5u`), in
/// strict JSON without repeated names.
struct CompactToken: Sendable {
  static let maximumBytes = CompactForm.maximumBytes
  /// `alg`: the only accepted algorithm.
  static let algorithm = "HS256"
  /// `typ`.
  static let type = "JWT"

  /// The token's parts.
  let form: CompactForm
  /// `kid`: the key that the token claims to be signed with.
  let key: KeyID

  /// Reads a token.
  /// - Throws: `invalidToken`.
  init(_ token: String) throws {
    form = try CompactForm(token)
    guard let root = try? ParsedJSON(form.header, limits: .small).root, root.kind == .object,
      root.count == 3, root["alg"]?.stringEquals(Self.algorithm) ?? false,
      root["typ"]?.stringEquals(Self.type) ?? false,
      let id = root["kid"]?.string.flatMap(KeyID.init)
    else { throw ServiceError.invalidToken("header") }
    key = id
  }
}

/// The three parts of a signed token, not verified: the compact form of RFC 7515 section 3.1, each part in
/// base64url without padding. Only one spelling of each value is accepted.
struct CompactForm: Sendable {
  static let maximumBytes = 8 * 1_024

  /// The header's text, not checked.
  let header: [UInt8]
  /// The claims' text, not checked.
  let payload: [UInt8]
  /// The signature, not checked.
  let signature: [UInt8]
  /// The signed bytes: header and claims as they are in the token.
  let signed: [UInt8]

  /// Splits a token into its parts.
  /// - Throws: `invalidToken`.
  init(_ token: String) throws {
    guard token.utf8.count <= Self.maximumBytes else { throw ServiceError.invalidToken("too long") }
    let parts = Array(token.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]),
      let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
    else { throw ServiceError.invalidToken("not three parts in base64url") }
    self.header = header
    self.payload = payload
    self.signature = signature
    signed = Array(parts[0]) + [UInt8(ascii: ".")] + parts[1]
  }
}
