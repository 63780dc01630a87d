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
