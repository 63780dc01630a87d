/// Encodes any text as one segment of a URL's path.
package enum PathSegment {
  /// The text's UTF-8 bytes; every byte that RFC 3986 section 2.3 does not list as unreserved is written as `%XX`. So
  /// no byte can end the segment, start a query or break a line. `.` and `..` are encoded, too: they lead elsewhere.
  package static func encode(_ text: String) -> String {
    guard text != ".", text != ".." else { return text == "." ? "%2E" : "%2E%2E" }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes that percent-encoded ones stand for; nil for a `%` that two hex digits don't follow.
  /// - Parameter plusIsSpace: whether `+` is a space, as in a form.
  @inlinable package static func decode(
    _ encoded: some Collection<UInt8>, plusIsSpace: Bool = false
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var rest = encoded.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(value(of:)), let low = rest.next().flatMap(value(of:))
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  @usableFromInline static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }

  /// The path of a document below its database. The slash of a design document and of a local one stays.
  package static func path(ofDocument id: String) -> String {
    let prefix = ["_design/", "_local/"].first { id.utf8.starts(with: $0.utf8) } ?? ""
    return prefix + encode(String(Substring(id.utf8.dropFirst(prefix.utf8.count))))
  }

  /// Letters, digits, `-`, `.`, `_` and `~`.
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: false
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 &+ value : 0x41 &+ (value &- 10)
  }
}
