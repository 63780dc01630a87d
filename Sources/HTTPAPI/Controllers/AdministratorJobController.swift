import Accounts
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import Scheduling
import Stores

/// The jobs that the administrator starts, and their results.
struct AdministratorJobController: Sendable {
  let administration: any ServerAdministration
  let audit: AuditLog

  var routes: [Route] {
    [
      .administrator(.post, "/v1/admin/backups") { call in
        let path = try await Self.body(call).flatMap { try Self.path("path", in: $0) }
        guard path == nil || call.context.isFromControlSocket else {
          throw Problem(
            .forbidden, "forbidden", "Only over the control socket a request may name a path")
        }
        return try start(.backup(to: path), call)
      },
      .administrator(.get, "/v1/admin/backups", listBackups),
      .administrator(.delete, "/v1/admin/backups/{backup}", completion: .always) { call in
        _ = try call.query()
        // The running job may be writing or reading it.
        guard !administration.jobs.isBusy else { throw Problem.jobRunning }
        let name = try call.parameter("backup")
        try await administration.removeBackup(name)
        audit.note(AuditEvent(.backupRemoved, by: .administrator, about: name))
        return .empty(.noContent)
      },
      .administrator(.post, "/v1/admin/backups/{backup}/verifications") { call in
        try start(.backupVerification(of: try call.parameter("backup")), call)
      },
      .administrator(.post, "/v1/admin/verifications") { call in try start(.verification, call) },
      .administrator(.post, "/v1/admin/repairs") { call in try start(.repair, call) },
      .administrator(.post, "/v1/admin/replacements", access: .controlSocket) { call in
        let body = try await call.json(.small)
        return try start(
          .replacement(
            of: try CredentialsBody.text("store", in: body),
            from: try Self.path("backup", in: body)),
          call)
      },
      .administrator(.post, "/v1/admin/moves", access: .controlSocket) { call in
        let body = try await call.json(.small)
        let password =
          body["password"] == nil ? nil : Secret(try CredentialsBody.text("password", in: body))
        let url = try CredentialsBody.text("database", in: body)
        return try start(.move, call) { try await administration.move(to: url, password, $0) }
      },
      .administrator(.post, "/v1/admin/catalogue", importHotels),
      .administrator(.post, "/v1/admin/catalogue/undo") { call in
        _ = try call.query()
        return try await runWithin { try await administration.undoCatalogue($0) }
      },
      .administrator(.get, "/v1/admin/jobs") { call in
        _ = try call.query()
        return .json { writer in
          writer.array("jobs", of: administration.jobs.all) { $1.raw($0.bytes) }
        }
      },
      .administrator(.get, "/v1/admin/jobs/{jobID}") { call in
        guard let job = administration.jobs.job(try call.parameter("jobID")) else {
          throw Problem.notFound
        }
        return Self.answer(job, .ok)
      },
      .administrator(.delete, "/v1/admin/jobs/{jobID}") { call in
        _ = try call.query()
        let id = try call.parameter("jobID")
        guard let job = administration.jobs.job(id) else { throw Problem.notFound }
        administration.jobs.cancel(id)
        if job.state == .running {
          audit.note(AuditEvent(.jobCancelled, by: .administrator, about: job.kind.rawValue))
        }
        return Self.answer(job, .accepted)
      },
    ]
  }

  private func listBackups(_ call: Call) async throws -> Response {
    _ = try call.query()
    let backups = try await administration.allBackups()
    return .json { writer in
      writer.objects("backups", of: backups) { backup, writer in
        writer.member("name", backup.name)
        writer.member("madeAt", backup.madeAt.rfc3339)
        writer.member("isWhole", backup.isWhole)
      }
    }
  }

  private func start(_ work: StoreWork, _ call: Call) throws -> Response {
    try start(work.kind, call) { try await administration.perform(work, $0) }
  }

  /// Starts a job. It continues after the answer, unless the client follows it: then it ends with the connection.
  private func start(
    _ kind: AdministrationJobs.Kind, _ call: Call, _ work: @escaping Administration.Work
  ) throws -> Response {
    _ = try call.query()
    guard call[.accept]?.lowercased().contains("application/x-ndjson") ?? false else {
      let job = try administration.jobs.start(kind, work)
      noteStart(of: kind)
      return Self.answer(job, .accepted)
    }
    let (lines, feed) = AdministrationJobs.Lines.makeStream(
      bufferingPolicy: .bufferingOldest(AdministrationJobs.maximumLines))
    let job = try administration.jobs.start(kind, reportingTo: feed, work)
    noteStart(of: kind)
    return follow(job, lines, call.context.channel)
  }

  private func noteStart(of kind: AdministrationJobs.Kind) {
    audit.note(AuditEvent(.jobStarted, by: .administrator, about: kind.rawValue))
  }

  /// The lines of a job as they come, and the job at its end.
  private func follow(
    _ job: AdministrationJobs.Job, _ lines: AdministrationJobs.Lines, _ channel: any Channel
  ) -> Response {
    let jobs = administration.jobs
    let body = ResponseBody { writer in
      DisconnectHandler.onDisconnect(of: channel) { jobs.cancel(job.id) }
      try await withTaskCancellationHandler {
        // The empty write sends the head.
        try await writer.write(ByteBuffer())
        while let line = await Work.waiting({ await lines.first { _ in true } }) {
          try await writer.write(ByteBuffer(bytes: line + [UInt8(ascii: "\n")]))
        }
        let last = (jobs.job(job.id) ?? job).bytes
        try await writer.write(ByteBuffer(bytes: last + [UInt8(ascii: "\n")]))
        try await writer.finish(nil)
      } onCancel: {
        jobs.cancel(job.id)
      }
    }
    return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: body)
  }

  /// The body as JSON; nil if there is none.
  private static func body(_ call: Call) async throws -> JSONNode? {
    let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
    return bytes.isEmpty ? nil : try await call.json(bytes, .small)
  }

  /// A path on the server's disk; nil if it is absent.
  /// - Throws: ``Problem`` 400 for a relative path.
  private static func path(_ name: String, in body: JSONNode) throws(Problem) -> String? {
    guard body[name] != nil else { return nil }
    let path = try CredentialsBody.text(name, in: body)
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw Problem.badRequest("\(name) must be an absolute path")
    }
    return path
  }

  private static func answer(
    _ job: AdministrationJobs.Job, _ status: HTTPResponse.Status
  ) -> Response {
    var fields: HTTPFields = [:]
    if status == .accepted { fields[.location] = "/v1/admin/jobs/" + job.id }
    return .json(job.bytes, status: status, headers: fields)
  }

  /// Imports hotels as they arrive. The answer comes at the end. Meanwhile the list of jobs shows the progress.
  private func importHotels(_ call: Call) async throws -> Response {
    let query = try call.query("strict", "replace", "dryRun")
    let options = Administration.ImportOptions(
      isStrict: try query.isSet("strict"), isForced: try query.isSet("replace"),
      isDryRun: try query.isSet("dryRun"))
    let body = try call.streamedBody()
    return try await runWithin { try await administration.importHotels(options, body, $0) }
  }

  /// Changes the catalogue within the request.
  /// - Throws: ``Problem``: that of the work's error, with the job as a member.
  private func runWithin(_ work: @escaping Administration.Work) async throws -> Response {
    let (job, failure) = try await administration.jobs.run(.catalogue) { report in
      noteStart(of: .catalogue)
      return try await work(report)
    }
    guard let failure else { return Self.answer(job, .ok) }
    var problem = ErrorTable.problem(for: failure)
    problem.members["job"] = try JSONValue(parsing: job.bytes, limits: .request)
    throw problem
  }
}

extension AdministrationJobs.Job {
  /// Writes the job as an object.
  fileprivate var bytes: [UInt8] {
    JSONWriter.object { writer in
      writer.member("id", id)
      writer.member("kind", kind.rawValue)
      writer.member("state", state.rawValue)
      writer.member("startedAt", startedAt.rfc3339)
      if let endedAt { writer.member("endedAt", endedAt.rfc3339) }
      writer.member("done", done)
      if let total { writer.member("total", total) }
      writer.member("result", message)
      writer.member("damaged", isDamaged)
      if let error { writer.member("error", error) }
      writer.member("findingCount", findingCount)
      writer.array("findings", of: findings) { $1.string($0) }
    }
  }
}
