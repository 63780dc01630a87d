/// Where a request comes from, as far as limits tell addresses apart: a whole IPv4 address, or the 64-bit
/// prefix that one subscriber of IPv6 owns (RFC 6177, RFC 7421).
package struct ClientAddress: Sendable, Hashable {
  /// The address or prefix as text, such as `192.0.2.7` or `2001:db8::/64`; `unknown` for all that
  /// have no such address.
  package let prefix: String

  /// The prefix of an address in text. A zone (`%eth0`) is left out, an IPv4 address mapped into IPv6
  /// (RFC 4291 section 2.5.5.2) is that IPv4 address.
  package init(_ text: String) {
    switch IPAddress(text)?.bytes {
    case let bytes? where bytes.count == 4: prefix = Self.dotted(bytes)
    case let bytes?: prefix = Self.network(bytes)
    case nil: prefix = "unknown"
    }
  }

  private static func dotted(_ bytes: [UInt8]) -> String {
    bytes.map(String.init).joined(separator: ".")
  }

  private static func network(_ bytes: [UInt8]) -> String {
    let groups = stride(from: 0, to: 8, by: 2).map { place in
      String(UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]), radix: 16)
    }
    return groups.joined(separator: ":") + "::/64"
  }
}
