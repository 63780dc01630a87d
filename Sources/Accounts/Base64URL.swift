import Documents

/// Base64 for URLs without padding (RFC 4648 section 5, RFC 7515 section 2). Each value has one spelling.
package enum Base64URL {
  private static let (minus, underscore) = (UInt8(ascii: "-"), UInt8(ascii: "_"))
  private static let (plus, slash, padding) = (
    UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")
  )

  /// Appends the encoded bytes.
  package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    for digit in Base64.string(bytes).utf8 where digit != padding {
      output.append(digit == plus ? minus : digit == slash ? underscore : digit)
    }
  }

  /// Decodes text; nil for padding, other characters, an impossible length, and set bits beyond the last byte.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.allSatisfy(isDigit) else { return nil }
    let digits = text.map { $0 == minus ? plus : $0 == underscore ? slash : $0 }
    return Base64.bytes(digits + repeatElement(padding, count: (4 - digits.count % 4) % 4))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    PathSegment.isUnreserved(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "~")
  }
}
