import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Asks a server whether it is ready.
package enum HealthCheck {
  /// Where a server of the same environment is asked: at its operators' port if it has one that is known.
  package static func url(environment: [String: String]) -> String {
    let port = [SettingKey.operationsPort, .port].lazy
      .compactMap { environment[$0.environmentName].flatMap { UInt16($0) } }
      .first { $0 != 0 }
    return "http://127.0.0.1:\(port ?? 8_080)"
  }

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
