import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Asks a server whether it is ready.
package enum HealthCheck {
  /// Whether `/readyz` answers 200 within two seconds.
  package static func isReady(_ url: String) async -> Bool {
    let client = HTTPClient(eventLoopGroupProvider: .singleton)
    let request = HTTPClientRequest(url: url + "/readyz")
    let status = try? await client.execute(request, timeout: .seconds(2)).status
    // It throws only when the client is shut down already.
    try? await client.shutdown()
    return status?.code == 200
  }
}
