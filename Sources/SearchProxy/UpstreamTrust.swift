import NIOSSL

/// Whose certificates upstreams over TLS may show: those of the authorities that the system trusts, and those of an
/// operator's own. What a certificate has to be besides is the same for both.
package struct UpstreamTrust: Sendable {
  /// How a connection begins.
  let configuration: TLSConfiguration

  /// The system's authorities alone.
  package init() { configuration = .makeClientConfiguration() }

  /// And the authorities of a PEM file.
  /// - Throws: what TLS says about a file that can't be read or holds no certificate.
  package init(file: String) throws {
    let certificates = try NIOSSLCertificate.fromPEMFile(file)
    guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.additionalTrustRoots = [.certificates(certificates)]
    self.configuration = configuration
  }
}
