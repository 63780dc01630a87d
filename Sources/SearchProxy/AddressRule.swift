package import IPAddresses

/// Which addresses a connection to an upstream may lead to. It is held against the address that each connection
/// has really reached, before the first byte of a request: whatever a name server says, and however often it
/// changes its mind (DNS rebinding), nothing is sent to an address that the rule does not allow.
package struct AddressRule: Sendable {
  private enum Kind: Sendable {
    case any
    case elsewhere
    case within([CIDRBlock])
  }

  private let kind: Kind

  /// The rule for an upstream.
  ///
  /// With networks: those and no other. Without: an upstream that is configured by its address, or as
  /// `localhost` (RFC 6761 section 6.3), may be anywhere; one that has a name may not
  /// lead to ``CIDRBlock/reserved`` ones: this machine, the link (where clouds keep their metadata,
  /// 169.254.169.254), multicast.
  /// - Parameter networks: what the operator allows; empty for no such list.
  package init(for origin: UpstreamOrigin, networks: [CIDRBlock]) {
    if !networks.isEmpty {
      kind = .within(networks)
    } else {
      kind = Self.isAddress(origin.host) || Self.isLocalhost(origin.host) ? .any : .elsewhere
    }
  }

  /// The rule for what may be in these networks alone.
  package init(within networks: [CIDRBlock]) { kind = .within(networks) }

  private init(_ kind: Kind) { self.kind = kind }

  /// The rule for a host that no operator has named: no reserved address, even where it goes by its
  /// address.
  package static let elsewhere = AddressRule(.elsewhere)

  /// Whether a connection may lead there. An address that is none of IPv4 or IPv6 is not allowed.
  /// - Parameter address: as text; nil where there is none.
  func allows(_ address: String?) -> Bool {
    if case .any = kind { return true }
    guard let address = address.flatMap(IPAddress.init) else { return false }
    switch kind {
    case .any: return true
    case .elsewhere: return !CIDRBlock.reserved.contains { $0.contains(address) }
    case .within(let networks): return networks.contains { $0.contains(address) }
    }
  }

  private static func isAddress(_ host: String) -> Bool {
    host.utf8.first == UInt8(ascii: "[")
      || IPAddress(host) != nil
  }

  private static func isLocalhost(_ host: String) -> Bool {
    host.utf8.elementsEqual("localhost".utf8)
      || host.utf8.suffix(10).elementsEqual(".localhost".utf8)
  }
}

/// A connection that led to an address that its upstream's rule does not allow.
struct AddressRefusal: Error {
  /// The address, for the operator.
  let address: String
}
