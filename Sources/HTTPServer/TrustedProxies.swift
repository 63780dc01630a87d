package import IPAddresses
package import NIOCore

/// The proxies whose word on who calls is taken, and how that is found out.
///
/// Each proxy adds the address that it was called from at the end of `X-Forwarded-For`, so the caller is the
/// last address there that is no trusted proxy's; what stands before it anybody may have written. Without
/// trusted proxies the field is ignored.
package struct TrustedProxies: Sendable, Equatable {
  /// Addresses of a field that are looked at, from its end.
  static let maximumHops = 16

  private let blocks: [CIDRBlock]

  /// - Parameter blocks: where the proxies are; none by default.
  package init(_ blocks: [CIDRBlock] = []) { self.blocks = blocks }

  /// Whether there are none.
  package var isEmpty: Bool { blocks.isEmpty }

  /// Whether an address is a trusted proxy's.
  package func contains(_ address: String?) -> Bool {
    guard !blocks.isEmpty, let address = address.flatMap(IPAddress.init) else { return false }
    return blocks.contains { $0.contains(address) }
  }

  /// Who calls.
  /// - Parameter peer: the address at the other end of the connection; nil for none.
  /// - Parameter forwarded: the request's `X-Forwarded-For`.
  package func caller(peer: String?, forwarded: @autoclosure () -> String?) -> ClientAddress {
    guard contains(peer), let field = forwarded() else { return ClientAddress(peer ?? "local") }
    var caller = peer ?? "local"
    for part in field.utf8.split(separator: UInt8(ascii: ",")).suffix(Self.maximumHops).reversed() {
      let address = String(
        decoding: part.drop(while: Self.isBlank).reversed().drop(while: Self.isBlank).reversed(),
        as: UTF8.self)
      caller = address
      if !contains(address) { break }
    }
    return ClientAddress(caller)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Whom a connection counts for where connections from one address are few; nil for a proxy's, which may
  /// have as many as it needs.
  /// - Parameter countsLoopback: whether this machine's own connections count, too.
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
