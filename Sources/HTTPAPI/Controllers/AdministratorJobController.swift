import Documents
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Scheduling
import Stores

/// The jobs that the administrator starts, and their results.
struct AdministratorJobController: Sendable {
  let administration: Administration

  var routes: [Route] {
    [
      .administrator(.post, "/v1/admin/backups") { call in
        try start(.backup, administration.backUp, call)
      },
      .administrator(.post, "/v1/admin/verifications") { call in
        try start(.verification, administration.verify, call)
      },
      .administrator(.post, "/v1/admin/catalogue", importHotels),
      .administrator(.post, "/v1/admin/catalogue/undo") { call in
        _ = try call.query()
        return try await runWithin(administration.undoCatalogue)
      },
      .administrator(.get, "/v1/admin/jobs") { call in
        _ = try call.query()
        return .json { writer in
          writer.name("jobs")
          writer.beginArray()
          for job in administration.jobs.all { job.write(to: &writer) }
          writer.endArray()
        }
      },
      .administrator(.get, "/v1/admin/jobs/{jobID}") { call in
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
