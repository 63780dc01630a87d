import JSON
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

  /// The header's JSON.
  let header: [UInt8]
  /// `kid`: the key that the token claims to be signed with.
  let key: KeyID
  /// The claims' text, not checked.
  let payload: [UInt8]
  /// The signature, not checked.
  let signature: [UInt8]
  /// The signed bytes: header and claims as they are in the token.
  let signed: [UInt8]

  /// Reads a token.
  /// - Throws: `invalidToken`.
  init(_ token: String) throws {
    let form = try CompactForm(token)
    guard let root = try? ParsedJSON(form.header, limits: .small).root, root.kind == .object,
      root.count == 3, root["alg"]?.stringEquals(Self.algorithm) ?? false,
      root["typ"]?.stringEquals(Self.type) ?? false,
      let id = root["kid"]?.string.flatMap(KeyID.init)
    else { throw ServiceError.invalidToken("header") }
    header = form.header
    key = id
    payload = form.payload
    signature = form.signature
    signed = form.signed
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

/// Base64 for URLs without padding (RFC 4648 section 5, RFC 7515 section 2). Each value has one spelling.
package enum Base64URL {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Appends the encoded bytes.
  package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    var (buffer, bits) = (UInt32(0), UInt32(0))
    for byte in bytes {
      buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 6 {
        bits -= 6
        output.append(digits[Int(buffer >> bits & 63)])
      }
    }
    if bits > 0 { output.append(digits[Int(buffer << (6 - bits) & 63)]) }
  }

  /// Decodes text; nil for padding, other characters, an impossible length, and set bits beyond the last byte.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(text.count / 4 * 3 + 2)
    var (buffer, bits) = (UInt32(0), UInt32(0))
    for digit in text {
      guard let value = value(digit) else { return nil }
      buffer = (buffer << 6 | value) & 0xFFFF
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      output.append(UInt8(truncatingIfNeeded: buffer >> bits))
    }
    return buffer & (1 << bits - 1) == 0 ? output : nil
  }

  private static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) + 4
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
