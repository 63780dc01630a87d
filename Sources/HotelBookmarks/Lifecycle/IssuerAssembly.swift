import Accounts
import Hotels
import IPAddresses
import Logging
import SearchProxy
import Stores

/// Gets the documents of token issuers over HTTP, by the same client and the same rule on addresses as upstreams.
struct IssuerAssembly: IssuerDocuments {
  /// How long an issuer may take for one document: 5 s in all, for somebody waits to be let in.
  private static let timeouts = UpstreamTimeouts(
    connect: .seconds(2), firstByte: .seconds(4), total: .seconds(5))

  private let issuers: [TrustedIssuer]
  private let networks: [CIDRBlock]
  private let logger: Logger

  /// For the issuers of the settings.
  init(_ settings: Settings, logger: Logger) {
    issuers = settings.issuers
    networks = settings.issuerNetworks
    self.logger = logger
  }

  func document(
    at url: String, of issuer: TrustedIssuer
  ) async throws -> [UInt8] {
    // What a discovery document names is the issuer's word: it may lead to the issuer's own origin, or to none of
    // this machine or its link.
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
    } catch {
      throw ServiceError.issuerUnavailable("\(error.reason) \(error.detail)")
    }
  }

  func failed(_ error: any Error, of issuer: TrustedIssuer) {
    logger.warning(
      "an issuer's keys can't be had",
      metadata: [
        "upstream": "\(name(of: issuer))", "detail": "\(ServiceError(error)?.detail ?? "")",
      ])
  }

  /// What metrics and logs call an issuer: its place in the setting.
  private func name(of issuer: TrustedIssuer) -> String {
    "issuer-\((issuers.firstIndex { $0 == issuer } ?? 0) + 1)"
  }
}

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
