import Accounts
import Hotels
import IPAddresses
import Logging
import SearchProxy
import Stores

/// Fetches the documents of token issuers over HTTP, with the same client and the same address rules as for upstreams.
struct IssuerAssembly: IssuerDocuments {
  /// The time limits for one document: 5 s in total, because a person waits for the log-in.
  private static let timeouts = UpstreamTimeouts(
    connect: .seconds(2), firstByte: .seconds(4), total: .seconds(5))

  private let issuers: [TrustedIssuer]
  private let networks: [CIDRBlock]
  private let logger: Logger

  init(_ settings: Settings, logger: Logger) {
    issuers = settings.issuers
    networks = settings.issuerNetworks
    self.logger = logger
  }

  func document(at url: String, of issuer: TrustedIssuer) async throws -> [UInt8] {
    // The URL in a discovery document comes from the issuer. It may lead to the issuer's own origin, or to any address
    // that is neither of this machine nor of its link.
    let given = issuer.keysURL.flatMap { IssuerURL($0)?.origin }
    guard let url = IssuerURL(url), let own = IssuerURL(issuer.url),
      url.origin.scheme == .https || own.origin.scheme == .http || url.origin == given
    else { throw ServiceError.issuerUnavailable("its key set is not at \(IssuerURL.expected)") }
    do {
      return try await UpstreamClient.document(
        at: url.text,
        addresses: url.addresses(
          networks, isNamed: url.origin == own.origin || url.origin == given),
        timeouts: Self.timeouts, maximumBytes: AccountSettings.issuerAnswerBytes,
        name: name(of: issuer))
    } catch { throw ServiceError.issuerUnavailable("\(error.reason) \(error.detail)") }
  }

  func report(_ error: any Error, of issuer: TrustedIssuer) {
    logger.warning(
      "an issuer's keys can't be fetched",
      metadata: [
        "upstream": "\(name(of: issuer))", "detail": "\(ServiceError(error)?.detail ?? "")",
      ])
  }

  /// The issuer's name in metrics and logs: its position in the setting.
  private func name(of issuer: TrustedIssuer) -> String {
    "issuer-\((issuers.firstIndex { $0 == issuer } ?? 0) + 1)"
  }
}

/// The URL of a token issuer: https, or http on this machine for development and tests.
struct IssuerURL: Sendable, Equatable {
  /// The allowed URLs, for the message about an invalid one.
  static let expected = "an https URL, or an http URL of localhost or a loopback address"

  /// Scheme, host and port.
  let origin: UpstreamOrigin
  /// The whole URL.
  let text: String

  /// Checks a URL by the rules for upstreams; it may have a query.
  init?(_ text: String) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let base = parts.first.map({ String($0) }), let url = try? UpstreamURL(base),
      url.origin.scheme == .https || Self.isLoopback(url.origin.host),
      parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy(Self.isAllowedInQuery) })
    else { return nil }
    origin = url.origin
    self.text = text
  }

  /// The addresses that a connection may lead to; for http only those of this machine.
  /// - Parameter networks: the networks that the operator allows; empty for the default rule.
  /// - Parameter isNamed: whether the operator has named this origin.
  func addresses(_ networks: [CIDRBlock], isNamed: Bool) -> AddressRule {
    guard origin.scheme == .https else { return AddressRule(within: CIDRBlock.loopback) }
    guard networks.isEmpty else { return AddressRule(within: networks) }
    return isNamed ? AddressRule(host: origin.host, networks: []) : .elsewhere
  }

  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    return host.hasPrefix("127.") && IPAddress(host) != nil
  }

  private static func isAllowedInQuery(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"#\"<>\\^`{|}".utf8.contains(byte)
  }
}
