import Documents
import Testing

@Suite struct Base64Tests {
  /// Source: RFC 4648, section 10.
  private static let pairs = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ]

  private func decode(_ text: String, inPartsOf count: Int) -> [UInt8]? {
    var (decoder, bytes, rest) = (Base64.Decoder(), [UInt8](), Array(text.utf8)[...])
    while !rest.isEmpty {
      guard let part = decoder.decode(rest.prefix(count)) else { return nil }
      bytes += part
      rest = rest.dropFirst(count)
    }
    return decoder.finish().map { bytes + $0 }
  }

  @Test(arguments: pairs, [1, 3, 100])
  func encodedBytesAreDecoded(pair: (text: String, encoded: String), count: Int) {
    #expect(Base64.string(Array(pair.text.utf8)) == pair.encoded)
    #expect(decode(pair.encoded, inPartsOf: count) == Array(pair.text.utf8))
  }

  @Test func allBytesComeBack() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    #expect(decode(Base64.string(bytes), inPartsOf: 77) == bytes)
  }

  @Test func whiteSpaceIsIgnored() {
    #expect(decode(" Zm9v\r\nYg =\t= ", inPartsOf: 100) == Array("foob".utf8))
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v=", "Z=g=", "Zg==Zg==", "Zm9-", "é===",
  ])
  func anythingElseIsRefused(text: String) {
    #expect(decode(text, inPartsOf: 100) == nil)
  }
}
