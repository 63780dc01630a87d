import Glibc

/// An IPv4 or IPv6 address. An IPv4 address mapped into IPv6 (RFC 4291, section 2.5.5.2) becomes that IPv4 address.
package struct IPAddress: Sendable, Hashable {
  /// Its 4 or 16 bytes, the most significant first.
  package let bytes: [UInt8]

  /// Reads `192.0.2.7`, `2001:db8::1` or `fe80::1%eth0`, whose zone is ignored; nil for anything else.
  package init?(_ text: String) {
    let address = String(text.prefix { $0 != "%" })
    // The C function would stop at a NUL.
    guard !address.utf8.contains(0) else { return nil }
    if let bytes = Self.parse(address, AF_INET, 4) {
      self.bytes = bytes
    } else if let bytes = Self.parse(address, AF_INET6, 16) {
      let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
      self.bytes = bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    } else {
      return nil
    }
  }

  private static func parse(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { inet_pton(family, text, $0.baseAddress) }
    return result == 1 ? bytes : nil
  }
}
