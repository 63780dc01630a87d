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
      // Where nothing is on the way of the connection, ``RequestRouter/answerAtOnce(_:)`` answers these.
      .open(.get, "/healthz") { _ in health.answer(.alive).response },
      .open(.get, "/readyz") { _ in health.answer(.ready).response },
      .open(.get, "/metrics") { _ in health.answer(.metrics).response },
      .open(.get, "/openapi.yaml") { _ in .text(contract, type: "application/yaml") },
      .open(.get, "/v1/limits") {
        [
          limits = Limits.json(
            connectionCaps, databases: databaseLimits, tombstoneDays: tombstoneDays)
        ] _ in .json(limits)
      },
    ]
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
