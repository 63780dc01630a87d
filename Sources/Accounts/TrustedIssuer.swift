/// An OpenID provider that the configuration names. Its ID tokens are exchanged for the service's tokens.
package struct TrustedIssuer: Sendable, Equatable {
  /// The issuer's `iss`, compared byte by byte.
  package let url: String
  /// The client ids of the operator's own apps. An ID token must be for them (`aud`, `azp`).
  package let audiences: [String]
  /// The URL of its key set; nil to take it from its discovery document.
  package let keysURL: String?

  package init(url: String, audiences: [String], keysURL: String? = nil) {
    self.url = url
    self.audiences = audiences
    self.keysURL = keysURL
  }

  /// The URL of its discovery document (OpenID Connect Discovery 1.0, section 4).
  var discoveryURL: String {
    let base = url.utf8.last == UInt8(ascii: "/") ? String(url.dropLast()) : url
    return base + "/.well-known/openid-configuration"
  }
}

/// The port that fetches the documents of token issuers.
package protocol IssuerDocuments: Sendable {
  /// Fetches a document from exactly this URL, within limits on size and time.
  /// - Parameter url: the configured URL of the issuer, or the one in its discovery document.
  /// - Throws: `issuerUnavailable`.
  func document(at url: String, of issuer: TrustedIssuer) async throws -> [UInt8]

  /// Reports to the operator that an issuer's keys could not be fetched.
  func report(_ error: any Error, of issuer: TrustedIssuer)
}
