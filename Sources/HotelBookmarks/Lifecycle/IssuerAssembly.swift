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
