/// The addresses that connections to another server may use. The rule checks the address that each connection has
/// really reached, before the first byte of a request. So nothing is sent to an address that is not permitted,
/// whatever a name server returns and however often it changes its answer (DNS rebinding).
package struct AddressRule: Sendable {
  private enum Kind: Sendable {
    case any
    case outside([CIDRBlock])
    case within([CIDRBlock])
  }

  private let kind: Kind

  /// Makes the rule for a server that the operator configures.
  ///
  /// With networks, only these are permitted. Without networks, a server that is configured by its address or as
  /// `localhost` (RFC 6761 section 6.3) may have any address. A server with any other name may not have a
  /// ``CIDRBlock/reserved`` address, such as loopback, link-local (including the clouds' metadata service at
  /// 169.254.169.254) and multicast addresses.
  /// - Parameter host: a name, an address, or an IPv6 address in brackets; in lower case.
  /// - Parameter networks: the networks that the operator permits; empty for no restriction to networks.
  package init(host: String, networks: [CIDRBlock]) {
    if !networks.isEmpty {
      kind = .within(networks)
    } else {
      kind = Self.isAddress(host) || Self.isLocalhost(host) ? .any : .outside(CIDRBlock.reserved)
    }
  }

  package init(within networks: [CIDRBlock]) { kind = .within(networks) }

  private init(_ kind: Kind) { self.kind = kind }

  /// The rule for a host that the operator has not configured: no reserved address, not even when the host is given
  /// by its address.
  package static let elsewhere = AddressRule(.outside(CIDRBlock.reserved))

  /// The rule for a host that a client names: public addresses only.
  package static let publicOnly = AddressRule(.outside(CIDRBlock.reserved + CIDRBlock.privateUse))

  /// Whether a connection to an address is permitted. Only a rule that permits any address permits one that is
  /// neither IPv4 nor IPv6.
  /// - Parameter address: the address as text; nil when there is none.
  package func allows(_ address: String?) -> Bool {
    if case .any = kind { return true }
    guard let address = address.flatMap(IPAddress.init) else { return false }
    switch kind {
    case .any: return true
    case .outside(let networks): return !networks.contains { $0.contains(address) }
    case .within(let networks): return networks.contains { $0.contains(address) }
    }
  }

  private static func isAddress(_ host: String) -> Bool {
    host.utf8.first == UInt8(ascii: "[") || IPAddress(host) != nil
  }

  private static func isLocalhost(_ host: String) -> Bool {
    host.utf8.elementsEqual("localhost".utf8)
      || host.utf8.suffix(10).elementsEqual(".localhost".utf8)
  }
}

/// A connection to an address that its rule does not permit.
package struct AddressRefusal: Error {
  /// The address, for the operator.
  package let address: String

  package init(address: String) { self.address = address }
}
