import Documents
import HTTPTypes
import Hummingbird
import JSON
import Lanes
import NIOCore
import Stores

/// The jobs that the administrator starts, and their results.
extension HTTPService {
  /// `POST /v1/admin/{backups,verifications,catalogue,catalogue/undo}` and `GET /v1/admin/jobs…`.
  var administratorJobRoutes: [Route] {
    [
      Route(.post, "/v1/admin/backups", access: .administrator, answer: .uncached) { call, _ in
        try start(.backup, administration.backUp, call)
      },
      Route(.post, "/v1/admin/verifications", access: .administrator, answer: .uncached) {
        call, _ in
        try start(.verification, administration.verify, call)
      },
      Route(.post, "/v1/admin/catalogue", access: .administrator, answer: .uncached) { call, _ in
        try await importHotels(call)
      },
      Route(.post, "/v1/admin/catalogue/undo", access: .administrator, answer: .uncached) {
        call, _ in
        _ = try call.query()
        return try await runWithin(administration.undoCatalogue)
      },
      Route(.get, "/v1/admin/jobs", access: .administrator, answer: .uncached) { call, _ in
        _ = try call.query()
        return .json { writer in
          writer.name("jobs")
          writer.beginArray()
          for job in administration.jobs.all { job.write(to: &writer) }
          writer.endArray()
        }
      },
      Route(.get, "/v1/admin/jobs/{jobID}", access: .administrator, answer: .uncached) { call, _ in
        guard let job = administration.jobs.job(try call.parameter("jobID")) else {
          throw Problem.notFound
        }
        return Self.answer(job, .ok)
      },
    ]
  }

  private func start(
    _ kind: AdministrationJobs.Kind, _ work: @escaping Administration.Work, _ call: Call
  ) throws -> Response {
    _ = try call.query()
    return Self.answer(try administration.jobs.start(kind, work), .accepted)
  }

  private static func answer(
    _ job: AdministrationJobs.Job, _ status: HTTPResponse.Status
  ) -> Response {
    var fields: HTTPFields = [:]
    if status == .accepted { fields[.location] = "/v1/admin/jobs/" + job.id }
    var writer = JSONWriter()
    job.write(to: &writer)
    return .json(writer.bytes, status: status, headers: fields)
  }

  /// Imports hotels as they arrive. The answer comes at the end. Meanwhile the list of jobs shows the progress.
  private func importHotels(_ call: Call) async throws -> Response {
    let query = try call.query("strict", "replace")
    for name in ["strict", "replace"] where !["true", "false", nil].contains(query[name]) {
      throw Problem(.badRequest, "invalid_parameter", "\(name) must be true or false")
    }
    let options = Administration.ImportOptions(
      isStrict: query["strict"] == "true", isForced: query["replace"] == "true")
    let body = try call.streamedBody()
    return try await runWithin { report in
      try await administration.importCatalogue(options, body, report)
    }
  }

  /// Changes the catalogue within the request.
  /// - Throws: ``Problem``: that of the work's error, with the job as a member.
  private func runWithin(_ work: Administration.Work) async throws -> Response {
    let (job, failure) = try await administration.jobs.run(.catalogue, work)
    guard let failure else { return Self.answer(job, .ok) }
    var writer = JSONWriter()
    job.write(to: &writer)
    var problem = ErrorTable.problem(for: failure)
    problem.members["job"] = try JSONValue(parsing: writer.bytes, limits: .request)
    throw problem
  }

  // MARK: The server's state

  func showUpstreams() async -> Response {
    let cache = await administration.cache()
    return .json { writer in
      writer.name("upstreams")
      writer.beginArray()
      for upstream in administration.upstreams() {
        writer.beginObject()
        writer.member("name", upstream.name)
        if let breaker = upstream.breaker { writer.member("breaker", breaker) }
        writer.member("isRecovering", upstream.isRecovering)
        writer.name("calls")
        writer.beginObject()
        for (outcome, count) in upstream.calls { writer.member(outcome, count) }
        writer.endObject()
        writer.endObject()
      }
      writer.endArray()
      guard let cache else { return }
      writer.name("cache")
      writer.beginObject()
      writer.member("answerBytes", cache.answerBytes)
      writer.member("maximumBytes", cache.maximumBytes)
      writer.member("hotels", cache.hotels)
      writer.name("searches")
      writer.beginObject()
      for (result, count) in cache.searches { writer.member(result, count) }
      writer.endObject()
      writer.endObject()
    }
  }

  func showConnections() -> Response {
    let traffic = administration.traffic(Self.administratorRows)
    return .json { writer in
      writer.member("open", traffic.connections)
      writer.member("refused", traffic.refusedConnections)
      writer.member("requests", traffic.requests)
      writer.member("refusedRequests", traffic.refusedRequests)
      writer.member("feeds", feeds.count)
      writer.member("waitingFeeds", feeds.waitingCount)
      writer.member("openStores", stores.openCount)
      writer.member("leasedStores", stores.leasedCount)
      writer.name("addresses")
      writer.beginArray()
      for (address, connections) in traffic.addresses {
        writer.beginObject()
        writer.member("address", address)
        writer.member("connections", connections)
        writer.endObject()
      }
      writer.endArray()
    }
  }

  func showHistory(_ call: Call) throws -> Response {
    let query = try call.query("after")
    let after = try query["after"].map { text throws(Problem) in
      guard let after = Timestamp(rfc3339: text) else { throw Self.invalidPageToken }
      return after
    }
    let samples = administration.history.samples.filter { sample in
      after.map { $0 < sample.at } ?? true
    }
    return .json { writer in
      writer.member("seconds", ServerHistory.sampleSeconds)
      writer.name("samples")
      writer.beginArray()
      for sample in samples { sample.write(to: &writer) }
      writer.endArray()
    }
  }
}

extension AdministrationJobs.Job {
  /// Writes the job as an object.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", id)
    writer.member("kind", kind.rawValue)
    writer.member("state", state.rawValue)
    writer.member("startedAt", startedAt.rfc3339)
    if let endedAt { writer.member("endedAt", endedAt.rfc3339) }
    writer.member("done", done)
    if let total { writer.member("total", total) }
    writer.member("result", message)
    writer.member("findingCount", findingCount)
    writer.name("findings")
    writer.beginArray()
    for finding in findings { writer.string(finding) }
    writer.endArray()
    writer.endObject()
  }
}

extension ServerHistory.Sample {
  /// Writes the sample as an object.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("at", at.rfc3339)
    for (name, count) in [
      ("commits", counts.commits), ("successes", counts.successes),
      ("clientErrors", counts.clientErrors), ("serverErrors", counts.serverErrors),
      ("limited", counts.limited), ("feeds", counts.feeds), ("connections", counts.connections),
      ("memoryBytes", counts.memoryBytes),
      ("processorMilliseconds", counts.processorMilliseconds),
    ] { writer.member(name, count) }
    writer.endObject()
  }
}
