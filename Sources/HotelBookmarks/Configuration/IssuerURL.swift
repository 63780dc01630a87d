import IPAddresses
import SearchProxy

/// A URL of a token issuer's: https, or http on this machine for development and tests.
struct IssuerURL: Sendable, Equatable {
  /// What such a URL must be, for the one who got it wrong.
  static let expected = "an https URL, or an http URL of localhost or a loopback address"

  /// Scheme, host and port.
  let origin: UpstreamOrigin
  /// The URL as it is asked for.
  let text: String

  /// Checks a URL by the rules for upstreams; a query may follow its path.
  init?(_ text: String) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let base = parts.first.map({ String($0) }), let url = try? UpstreamURL(base),
      url.origin.scheme == .https || Self.isLoopback(url.origin.host),
      parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy(Self.mayStandInQuery) })
    else { return nil }
    origin = url.origin
    self.text = text
  }

  /// Where a connection may lead: for plain http nowhere but this machine.
  /// - Parameter networks: what the operator allows; empty for no such list.
  /// - Parameter isNamed: whether the operator has named this very origin.
  func addresses(_ networks: [CIDRBlock], isNamed: Bool) -> AddressRule {
    guard origin.scheme == .https else {
      return AddressRule(within: CIDRBlock.loopback)
    }
    guard networks.isEmpty else { return AddressRule(within: networks) }
    return isNamed ? AddressRule(for: origin, networks: []) : .elsewhere
  }

  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    return host.hasPrefix("127.") && IPAddress(host) != nil
  }

  private static func mayStandInQuery(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"#\"<>\\^`{|}".utf8.contains(byte)
  }
}
