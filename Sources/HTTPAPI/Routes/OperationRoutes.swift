import HTTPTypes
import Hotels
import Hummingbird
import Stores

extension HTTPService {
  /// What operators ask for: health, readiness, metrics, the API description and the limits.
  var operationRoutes: [Route] {
    let limits = Limits.json(connectionCaps, search: mirrorSearch.limit, set: setLimits)
    return [
      // ``RequestRouter/answerAtOnce(_:)`` answers these first. A request comes here only if its connection is busy.
      Route(.get, "/healthz", access: .open, cost: .free) { _, _ in health.answer(.alive).response
      },
      Route(.get, "/readyz", access: .open, cost: .free) { _, _ in health.answer(.ready).response },
      Route(.get, "/metrics", access: .open, cost: .free) { _, _ in health.answer(.metrics).response
      },
      Route(.get, "/openapi.yaml", access: .open, cost: .free) { _, _ in
        .text(contract, type: "application/yaml")
      },
      Route(.get, "/openapi.json", access: .open, cost: .free) { call, _ in
        try contractJSON.answer(call)
      },
      Route(.get, "/v1/limits", access: .open, cost: .free) { _, _ in .json(limits) },
    ]
  }
}
