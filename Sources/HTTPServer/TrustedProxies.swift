package import IPAddresses
package import NIOCore

/// The trusted proxies: the server believes what they say about the address of the caller.
///
/// Each proxy appends the address that called it to `X-Forwarded-For`. So the caller is the last address there that
/// does not belong to a trusted proxy; anyone can forge the addresses before it. Without trusted proxies the server
/// ignores the field.
package struct TrustedProxies: Sendable, Equatable {
  /// How many addresses of the field are read, from its end.
  static let maximumHops = 16

  private let blocks: [CIDRBlock]

  /// - Parameter blocks: the addresses of the proxies; none by default.
  package init(_ blocks: [CIDRBlock] = []) { self.blocks = blocks }

  package var isEmpty: Bool { blocks.isEmpty }

  package func contains(_ address: String?) -> Bool {
    guard !blocks.isEmpty, let address = address.flatMap(IPAddress.init) else { return false }
    return blocks.contains { $0.contains(address) }
  }

  /// The address of the caller.
  /// - Parameter peer: the address at the other end of the connection; nil for none.
  /// - Parameter forwarded: the request's `X-Forwarded-For`.
  package func caller(peer: String?, forwarded: @autoclosure () -> String?) -> ClientAddress {
    guard contains(peer), let field = forwarded() else { return ClientAddress(peer ?? "local") }
    var caller = peer ?? "local"
    for part in field.utf8.split(separator: UInt8(ascii: ",")).suffix(Self.maximumHops).reversed() {
      let address = Self.withoutPort(
        String(
          decoding: part.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank).reversed(),
          as: UTF8.self))
      caller = address
      if !contains(address) { break }
    }
    return ClientAddress(caller)
  }

  /// An address without the port that some proxies write behind it: `203.0.113.9:51234`, `[2001:db8::1]:443`.
  private static func withoutPort(_ text: String) -> String {
    if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? String(parts[0]) : text
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// The address that a connection counts for in the limit of connections per address.
  /// - Parameter countsLoopback: whether connections from this machine count too.
  /// - Returns: nil for a proxy, which may have any number of connections, and for a connection that does not count.
  package func owner(of peer: SocketAddress?, countsLoopback: Bool) -> ClientAddress? {
    guard let text = peer?.ipAddress, !contains(text),
      countsLoopback || !isLoopback(text)
    else { return nil }
    return ClientAddress(text)
  }

  private func isLoopback(_ text: String) -> Bool {
    guard let address = IPAddress(text) else { return false }
    return CIDRBlock.loopback.contains { $0.contains(address) }
  }
}
