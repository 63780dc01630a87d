/// A block of addresses, written as `192.0.2.0/24` or `2001:db8::/32` (RFC 4632, RFC 4291 section 2.3). A single
/// address is a block of one.
package struct CIDRBlock: Sendable, Equatable {
  private let address: [UInt8]
  private let prefixLength: Int

  /// Reads a block; nil for anything else. `10.1.2.3/8` is refused, because its author meant either one address or a
  /// shorter one.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2, !first.contains("%"),
      let address = IPAddress(String(first))
    else { return nil }
    let length = address.bytes.count * 8
    let digits = parts.count == 2 ? parts[1] : Substring(String(length))
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let prefixLength = Int(digits),
      prefixLength <= length
    else { return nil }
    self.address = address.bytes
    self.prefixLength = prefixLength
    guard Self.masked(address.bytes, prefixLength) == address.bytes else { return nil }
  }

  /// Whether an address is in the block.
  package func contains(_ other: IPAddress) -> Bool {
    other.bytes.count == address.count && Self.masked(other.bytes, prefixLength) == address
  }

  /// The address with every bit after the prefix cleared.
  private static func masked(_ bytes: [UInt8], _ prefixLength: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let bits = min(max(prefixLength - index * 8, 0), 8)
      return byte & ~UInt8(truncatingIfNeeded: 0xFF >> bits)
    }
  }

  /// Loopback, link-local, unspecified, multicast and reserved addresses (RFC 6890).
  package static let reserved = [
    "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128",
    "fe80::/10", "ff00::/8",
    // The IPv6 metadata service of one cloud provider.
    "fd00:ec2::254/128",
  ].compactMap(CIDRBlock.init)

  /// Addresses of private networks and of carriers' networks, those for tests of networks, and IPv6 addresses that lead
  /// to IPv4 addresses (RFC 1918, 4193, 6052, 6598, 3056, 4380, 6890).
  package static let privateUse = [
    "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "::/96",
    "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16",
    "fc00::/7", "fec0::/10",
  ].compactMap(CIDRBlock.init)

  /// The loopback addresses.
  package static let loopback = ["127.0.0.0/8", "::1/128"].compactMap(CIDRBlock.init)
}
