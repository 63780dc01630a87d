import HTTPTypes
import Hummingbird
import Scheduling

/// What operators ask for: health, readiness, metrics, the API description and the limits.
struct OperationController: Sendable {
  /// The known health.
  let health: Health
  /// Returns the API description.
  let description: @Sendable () async throws -> APIDescription
  /// The answer of `/v1/limits`.
  let limits: [UInt8]

  var routes: [Route] {
    [
      // ``RequestRouter/answerAtOnce(_:)`` answers these first. A request comes here only if its connection is busy.
      get("/healthz") { _ in health.answer(.alive).response },
      get("/readyz") { _ in health.answer(.ready).response },
      get("/metrics") { _ in health.answer(.metrics).response },
      get("/openapi.yaml") { call in try await readContract(call) },
      get("/openapi.json") { call in try await made().json.answer(call) },
      get("/v1/limits") { _ in .json(limits) },
    ]
  }

  /// The whole, or with `part=app` what an app needs.
  private func readContract(_ call: Call) async throws -> Response {
    let part = try call.query("part")["part"]
    guard part == nil || part == "app" else { throw Problem.invalidParameter("part must be app") }
    let description = try await made()
    return .text(part == nil ? description.yaml : description.appPart, type: "application/yaml")
  }

  private func made() async throws -> APIDescription {
    try await Work.waiting { try await description() }
  }

  private func get(
    _ template: String, _ answer: @escaping @Sendable (Call) async throws -> Response
  ) -> Route {
    Route(.get, template, access: .open, cost: .free) { call, _ in try await answer(call) }
  }
}
