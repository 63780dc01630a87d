/// The address of a client as limits use it: a whole IPv4 address, or the 64-bit prefix of one IPv6 subscriber (RFC
/// 6177, RFC 7421).
package struct ClientAddress: Sendable, Hashable {
  /// The address or prefix as text, such as `192.0.2.7` or `2001:db8::/64`; `unknown` for every client without such an
  /// address.
  package let prefix: String

  /// Makes the prefix of an address in text. A zone (`%eth0`) is ignored. An IPv4 address mapped into IPv6 (RFC 4291
  /// section 2.5.5.2) becomes that IPv4 address.
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
    let groups = stride(from: 0, to: 8, by: 2).map { index in
      String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
    }
    return groups.joined(separator: ":") + "::/64"
  }
}
