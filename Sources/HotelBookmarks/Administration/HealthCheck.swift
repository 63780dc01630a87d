import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// Asks a server whether it is ready.
package enum HealthCheck {
  /// Where a server of these settings is asked, on this machine: at its operators' port if it has one.
  /// - Throws: ``SettingsError`` for a port that only the server knows.
  package static func url(of settings: Settings) throws(SettingsError) -> String {
    let port = settings.operationsPort ?? settings.port
    guard port != 0 else {
      throw SettingsError(description: "port: 0 is a port that only the server knows; give --url")
    }
    let isSecure = settings.operationsPort == nil && settings.tlsCertificateFile != nil
    // What stands for all addresses is asked at this machine's own.
    let host =
      switch settings.hostname {
      case "", "0.0.0.0", "localhost": "127.0.0.1"
      case "::": "[::1]"
      case let name where name.contains(":"): "[\(name)]"
      case let name: name
      }
    return "\(isSecure ? "https" : "http")://\(host):\(port)"
  }

  /// Whether `/readyz` answers 200 within two seconds.
  /// - Parameter isOwn: whether the URL comes from the server's own settings: its certificate may then be in any
  ///   name and signed by anybody, for nothing is told to whoever answers at that port.
  package static func isReady(_ url: String, isOwn: Bool) async -> Bool {
    var configuration = HTTPClient.Configuration()
    if isOwn {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.certificateVerification = .none
      configuration.tlsConfiguration = tls
    }
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let request = HTTPClientRequest(url: url + "/readyz")
    let status = try? await client.execute(request, timeout: .seconds(2)).status
    // It throws only when the client is shut down already.
    try? await client.shutdown()
    return status?.code == 200
  }
}
