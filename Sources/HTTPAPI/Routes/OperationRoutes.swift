import HTTPTypes
import Hotels
import Hummingbird
import Stores

extension HTTPService {
  /// What operators and the curious ask: is it alive, ready, how is it doing, what can it do.
  var operationRoutes: [Route] {
    [
      // Where nothing is on the way of the connection, ``RequestRouter/answerAtOnce(_:)`` answers these.
      .open(.get, "/healthz") { _ in health.answer(.alive).response },
      .open(.get, "/readyz") { _ in health.answer(.ready).response },
      .open(.get, "/metrics") { _ in health.answer(.metrics).response },
      .open(.get, "/openapi.yaml") { _ in .text(contract, type: "application/yaml") },
      .open(.get, "/openapi.json") { call in try contractJSON.answer(call) },
      .open(.get, "/v1/limits") {
        [
          limits = Limits.json(
            connectionCaps, databases: databaseLimits, tombstoneDays: tombstoneDays)
        ] _ in .json(limits)
      },
    ]
  }
}
