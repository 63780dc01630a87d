import Documents

/// A token of ours taken apart, unverified, in the one spelling in which it is made here: a ``CompactForm`` with
/// a header of exactly `alg`, `kid` and `typ` (so no `crit`, `jku`, `jwk` or `x5u`), in strict JSON without
/// repeated names.
struct CompactToken: Sendable {
  /// The longest token, in bytes.
  static let maximumBytes = CompactForm.maximumBytes
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
    let form = try CompactForm(token)
    guard let root = try? ParsedJSON(form.header, limits: .small).root, root.kind == .object,
      root.count == 3, root["alg"]?.stringEquals(Self.algorithm) ?? false,
      root["typ"]?.stringEquals(Self.type) ?? false,
      let id = root["kid"]?.string.flatMap(KeyID.init)
    else { throw .invalidToken("header") }
    header = form.header
    key = id
    payload = form.payload
    signature = form.signature
    signed = form.signed
  }
}
