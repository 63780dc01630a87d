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
