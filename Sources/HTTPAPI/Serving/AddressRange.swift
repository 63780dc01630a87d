import Glibc

/// A range of addresses: `192.0.2.0/24`, `2001:db8::/32`, or one address alone (RFC 4632, RFC 4291).
package struct AddressRange: Sendable, Equatable {
  private let bytes: [UInt8]
  private let bits: Int

  /// Reads a range; nil for what is none.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2,
      let bytes = Self.bytes(of: String(first))
    else { return nil }
    var bits = bytes.count * 8
    if parts.count == 2 {
      guard let given = Int(parts[1]), (0...bits).contains(given),
        parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else { return nil }
      bits = given
    }
    self.bytes = bytes
    self.bits = bits
  }

  /// Whether an address in text is within it. An IPv4 address mapped into IPv6 counts as itself.
  func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
    let whole = bits / 8
    guard other.prefix(whole) == bytes.prefix(whole) else { return false }
    let rest = bits % 8
    return rest == 0 || (other[whole] ^ bytes[whole]) >> (8 - rest) == 0
  }

  private static func bytes(of text: String) -> [UInt8]? {
    let text = String(text.prefix { $0 != "%" }.prefix(64))
    if let bytes = parse(text, AF_INET, 4) { return bytes }
    guard let bytes = parse(text, AF_INET6, 16) else { return nil }
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
  }

  private static func parse(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { inet_pton(family, text, $0.baseAddress) }
    return result == 1 ? bytes : nil
  }
}
