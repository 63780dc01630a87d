import Documents
import Hotels
import SearchProxy

/// Time limits that no test reaches by accident, however busy the machine is.
let patient = UpstreamTimeouts(
  connect: .seconds(600), firstByte: .seconds(600), total: .seconds(600))

extension GuardedSearch.Settings {
  /// Settings with time limits that no test reaches by accident.
  static var patient: Self {
    var settings = Self()
    settings.deadline = .seconds(600)
    settings.queueTimeout = .seconds(600)
    return settings
  }
}

/// Runs a scripted server and an upstream that calls it, and closes both.
func withUpstream<Value>(
  prefix: String = "", timeouts: UpstreamTimeouts = patient, maximumAnswerBytes: Int = 1024 * 1024,
  script: @escaping ScriptedServer.Script,
  _ body: (TravelSampleUpstream, ScriptedServer) async throws -> Value
) async throws -> Value {
  let server = try ScriptedServer(script)
  let client = UpstreamClient(timeouts: timeouts, maximumAnswerBytes: maximumAnswerBytes)
  let url = try UpstreamURL("http://127.0.0.1:\(server.port)\(prefix)")
  let upstream = TravelSampleUpstream(client: client, baseURL: url)
  let outcome: Result<Value, any Error>
  do { outcome = .success(try await body(upstream, server)) } catch { outcome = .failure(error) }
  server.stop()
  await client.shutdown()
  return try outcome.get()
}

/// The page that is made from a second-generation upstream's reply.
func page(
  of reply: ScriptedReply, timeouts: UpstreamTimeouts = patient,
  maximumAnswerBytes: Int = 1024 * 1024
) async throws -> HotelPage {
  try await withUpstream(
    timeouts: timeouts, maximumAnswerBytes: maximumAnswerBytes, script: { _ in reply }
  ) { upstream, _ in
    try await upstream.search(HotelQuery(description: "inn", location: "Medway"))
  }
}

/// The error code for a second-generation upstream's reply; nil if it becomes a page.
func failure(
  of reply: ScriptedReply, timeouts: UpstreamTimeouts = patient,
  maximumAnswerBytes: Int = 1024 * 1024
) async throws -> SearchError.Code? {
  do {
    _ = try await page(of: reply, timeouts: timeouts, maximumAnswerBytes: maximumAnswerBytes)
    return nil
  } catch let error as SearchError {
    return error.code
  }
}

extension HotelPage {
  /// The ids in order.
  var ids: [String] { hotels.map(\.id.text) }
  var bodies: [String] { hotels.map { String(decoding: $0.body.bytes, as: UTF8.self) } }
}
