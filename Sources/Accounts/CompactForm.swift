/// A signed token's three parts, unverified: the compact form of RFC 7515 section 3.1, each part in base64url
/// without padding, in one spelling.
struct CompactForm: Sendable {
  /// The longest token, in bytes.
  static let maximumBytes = 8 * 1_024

  /// The header's text, whatever it is.
  let header: [UInt8]
  /// The claims' text, whatever it is.
  let payload: [UInt8]
  /// The signature, whatever it is.
  let signature: [UInt8]
  /// What is signed: header and claims as they stand in the token.
  let signed: [UInt8]

  /// Takes a token apart.
  /// - Throws: `invalidToken`.
  init(_ token: String) throws(AccountError) {
    guard token.utf8.count <= Self.maximumBytes else { throw .invalidToken("too long") }
    let parts = Array(token.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]),
      let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
    else { throw .invalidToken("not three parts in base64url") }
    self.header = header
    self.payload = payload
    self.signature = signature
    signed = Array(parts[0]) + [UInt8(ascii: ".")] + parts[1]
  }
}
