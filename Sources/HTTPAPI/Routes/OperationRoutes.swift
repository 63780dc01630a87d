import HTTPTypes
import Hotels
import Hummingbird
import Stores

extension HTTPService {
  /// What operators ask for: health, readiness, metrics, the API description and the limits.
  var operationRoutes: [Route] {
    [
      // ``RequestRouter/answerAtOnce(_:)`` answers these first. A request comes here only if its connection is busy.
      .open(.get, "/healthz") { _ in health.answer(.alive).response },
      .open(.get, "/readyz") { _ in health.answer(.ready).response },
      .open(.get, "/metrics") { _ in health.answer(.metrics).response },
      .open(.get, "/openapi.yaml") { _ in .text(contract, type: "application/yaml") },
      .open(.get, "/openapi.json") { call in try contractJSON.answer(call) },
      .open(.get, "/v1/limits") {
        [
          limits = Limits.json(
            connectionCaps, search: mirrorSearch.limit, set: setLimits)
        ] _ in .json(limits)
      },
    ]
  }
}
