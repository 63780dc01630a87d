import Glibc

/// A network of IP addresses as `address/prefix` writes it (RFC 4632, RFC 4291 section 2.3); an address alone is
/// a network of one. An IPv4 address that comes in IPv6's clothes (RFC 4291 section 2.5.5.2) counts as itself.
package struct AddressNetwork: Sendable, Equatable {
  private let address: [UInt8]
  private let prefix: Int

  /// Reads `10.0.0.0/8`, `fd00::/8`, `192.0.2.7`; nil for anything else, also for bits behind the prefix.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2,
      let address = Self.bytes(of: String(Substring(first)))
    else { return nil }
    var prefix = address.count * 8
    if parts.count == 2 {
      guard parts[1].allSatisfy({ (0x30...0x39).contains($0) }), parts[1].count <= 3,
        let number = Int(String(Substring(parts[1]))), number <= prefix
      else { return nil }
      prefix = number
    }
    self.init(address, prefix)
    guard address.elementsEqual(self.address) else { return nil }
  }

  /// - Parameter address: 4 or 16 bytes, of which what is behind the prefix does not count.
  private init(_ address: [UInt8], _ prefix: Int) {
    self.prefix = prefix
    self.address = address.enumerated().map { number, byte in
      let bits = min(max(prefix - number * 8, 0), 8)
      return byte & ~(UInt8(truncatingIfNeeded: 0xFF >> bits))
    }
  }

  /// Addresses of this machine, of its own link, of nobody and of many (RFC 6890): none that a name should lead
  /// to, unless the operator says so.
  static let nearby = [
    "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128",
    "fe80::/10", "ff00::/8",
    // Where one cloud keeps its metadata for IPv6.
    "fd00:ec2::254/128",
  ].compactMap(AddressNetwork.init)

  /// Whether an address, as ``bytes(of:)`` gives it, is in the network.
  func contains(_ bytes: [UInt8]) -> Bool {
    bytes.count == address.count && AddressNetwork(bytes, prefix).address == address
  }

  /// The 4 or 16 bytes of an address as text; nil for what is none.
  static func bytes(of text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10...11] == [0xFF, 0xFF]
    return isMapped ? Array(bytes.suffix(4)) : bytes
  }
}
