/// Somebody else whose ID tokens are exchanged for tokens of ours: an OpenID provider that the configuration
/// names.
package struct TrustedIssuer: Sendable, Equatable {
  /// Its `iss`, compared byte for byte.
  package let url: String
  /// The client ids of the operator's own apps: for whom its tokens must be (`aud`, `azp`).
  package let audiences: [String]
  /// Where its key set is; nil to find that out from its discovery document.
  package let keysURL: String?

  /// An issuer by its parts.
  package init(url: String, audiences: [String], keysURL: String? = nil) {
    self.url = url
    self.audiences = audiences
    self.keysURL = keysURL
  }

  /// Where its discovery document is (OpenID Connect Discovery 1.0, section 4).
  var discoveryURL: String {
    let base = url.utf8.last == UInt8(ascii: "/") ? String(url.dropLast()) : url
    return base + "/.well-known/openid-configuration"
  }
}

/// Gets the documents of token issuers, over whatever they come. An adapter implements it.
package protocol IssuerDocuments: Sendable {
  /// The bytes of a document, within bounds on size and time, from no other place than the URL.
  /// - Parameter url: the issuer's own, as configured, or what its discovery document names.
  /// - Throws: `issuerUnavailable`.
  func document(
    at url: String, of issuer: TrustedIssuer
  ) async throws -> [UInt8]

  /// Takes note that an issuer's keys could not be had, for the operator.
  func failed(_ error: any Error, of issuer: TrustedIssuer)
}
