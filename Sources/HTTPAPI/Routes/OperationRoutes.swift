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
      .open(.get, "/v1/limits") { [limits = Limits.json(connectionCaps)] _ in .json(limits) },
    ]
  }

  /// Ready is: stores take writes. An upstream that does not answer makes it degraded, for bookmarks work; so
  /// does a full disk, for all but what grows works.
  private func readiness() async throws -> Response {
    var storesError: StoreError?
    var upstreamReason: String?
    do { try await engine.checkWritable() } catch { storesError = error }
    do { try await search.checkReady() } catch { upstreamReason = error.reason }
    let isUnavailable = storesError.map { $0.code != .storageFull } ?? false
    let isReady = storesError == nil && upstreamReason == nil
    let status = isUnavailable ? "unavailable" : isReady ? "ready" : "degraded"
    return .json(
      isUnavailable ? .serviceUnavailable : .ok, headers: [.cacheControl: "no-store"]
    ) { writer in
      writer.member("status", status)
      writer.member("stores", storesError?.reason ?? "writable")
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
