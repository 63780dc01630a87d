import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

extension HTTPService {
  /// What operators and the curious ask: is it alive, ready, how is it doing, what can it do.
  var operationRoutes: [Route] {
    [
      .open(.get, "/") { _ in
        .text(Self.page, type: "text/html; charset=utf-8", headers: Self.pageHeaders)
      },
      .open(.get, "/healthz") { _ in .json { $0.member("status", "alive") } },
      .open(.get, "/readyz") { _ in try await readiness() },
      .open(.get, "/metrics") { _ in
        .text(metricsText(), type: "text/plain; version=0.0.4; charset=utf-8")
      },
      .open(.get, "/openapi.yaml") { _ in .text(contract, type: "application/yaml") },
      .open(.get, "/v1/limits") { _ in .json(Limits.json) },
    ]
  }

  /// Ready is: stores take writes. An upstream that does not answer makes it degraded, for bookmarks work.
  private func readiness() async throws -> Response {
    var storesReason: String?
    var upstreamReason: String?
    do { try await engine.checkWritable() } catch { storesReason = error.reason }
    do { try await search.checkReady() } catch { upstreamReason = error.reason }
    let status =
      storesReason != nil ? "unavailable" : upstreamReason != nil ? "degraded" : "ready"
    return .json(
      storesReason == nil ? .ok : .serviceUnavailable, headers: [.cacheControl: "no-store"]
    ) { writer in
      writer.member("status", status)
      writer.member("stores", storesReason ?? "writable")
      writer.member("upstream", upstreamReason ?? "available")
    }
  }

  private static let page = WelcomePage.html

  /// The page runs its own script and talks to this server only.
  private static let pageHeaders: HTTPFields = [
    .cacheControl: "no-cache",
    .contentSecurityPolicy:
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
      + "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  ]
}
