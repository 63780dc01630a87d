package import IPAddresses

/// The addresses that connections to an upstream may use. The rule checks the address that each connection has
/// really reached, before the first byte of a request. So nothing is sent to an address that is not permitted,
/// whatever a name server returns and however often it changes its answer (DNS rebinding).
package struct AddressRule: Sendable {
  private enum Kind: Sendable {
    case any
    case elsewhere
    case within([CIDRBlock])
  }

  private let kind: Kind

  /// Makes the rule for an upstream.
  ///
  /// With networks, only these are permitted. Without networks, an upstream that is configured by its address or as
  /// `localhost` (RFC 6761 section 6.3) may have any address. An upstream with any other name may not have a
  /// ``CIDRBlock/reserved`` address, such as loopback, link-local (including the clouds' metadata service at
  /// 169.254.169.254) and multicast addresses.
  /// - Parameter networks: the networks that the operator permits; empty for no restriction to networks.
  package init(for origin: UpstreamOrigin, networks: [CIDRBlock]) {
    if !networks.isEmpty {
      kind = .within(networks)
    } else {
      kind = Self.isAddress(origin.host) || Self.isLocalhost(origin.host) ? .any : .elsewhere
    }
  }

  package init(within networks: [CIDRBlock]) { kind = .within(networks) }

  private init(_ kind: Kind) { self.kind = kind }

  /// The rule for a host that the operator has not configured: no reserved address, not even when the host is given
  /// by its address.
  package static let elsewhere = AddressRule(.elsewhere)

  /// Whether a connection to an address is permitted. Only a rule that permits any address permits one that is
  /// neither IPv4 nor IPv6.
  /// - Parameter address: the address as text; nil when there is none.
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

/// A connection to an address that its upstream's rule does not permit.
struct AddressRefusal: Error {
  /// The address, for the operator.
  let address: String
}
