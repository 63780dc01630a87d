import HTTPTypes
import Hummingbird

/// What operators ask for: health, readiness, metrics, the API description and the limits.
struct OperationController: Sendable {
  /// The known health.
  let health: Health
  /// The text of `openapi.yaml`.
  let contract: [UInt8]
  /// What of it an app needs.
  let appContract: [UInt8]
  /// The same as JSON.
  let contractJSON: PageFile
  /// The answer of `/v1/limits`.
  let limits: [UInt8]

  var routes: [Route] {
    [
      // ``RequestRouter/answerAtOnce(_:)`` answers these first. A request comes here only if its connection is busy.
      get("/healthz") { _ in health.answer(.alive).response },
      get("/readyz") { _ in health.answer(.ready).response },
      get("/metrics") { _ in health.answer(.metrics).response },
      get("/openapi.yaml") { call in try readContract(call) },
      get("/openapi.json") { call in try contractJSON.answer(call) },
      get("/v1/limits") { _ in .json(limits) },
    ]
  }

  /// The whole, or with `part=app` what an app needs.
  private func readContract(_ call: Call) throws -> Response {
    let part = try call.query("part")["part"]
    guard part == nil || part == "app" else { throw Problem.invalidParameter("part must be app") }
    return .text(part == nil ? contract : appContract, type: "application/yaml")
  }

  private func get(
    _ template: String, _ answer: @escaping @Sendable (Call) throws -> Response
  ) -> Route { Route(.get, template, access: .open, cost: .free) { call, _ in try answer(call) } }
}
