import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// The replications that this server runs, for the administrator.
///
/// Source: CouchDB, "POST /_replicate", "GET /_active_tasks", "GET /_scheduler/jobs", "GET /_scheduler/docs".
struct CouchReplicatorController: Sendable {
  /// The time from one line end to the next while an answer waits for the end of a replication.
  private static let beat = Duration.seconds(10)
  /// How many jobs a list has unless the request says otherwise, as in CouchDB, whose lists of documents have all.
  private static let listedJobs = 100

  let databases: CouchDatabaseAccess
  /// How long an answer may wait for the end of a replication. It then begins, and its status is 200.
  let patience: Duration

  private var replications: any Replications { databases.replications }

  var routes: [Route] {
    [
      .couchAdministrator(.post, "/_replicate") { call, caller in
        let body = try await call.couchObject()
        guard let server = try await databases.stores.serverID() else { throw Self.noServerID }
        let reply = try await replications.replicate(body, on: server, by: caller.username)
        if let act = Self.act(reply) {
          databases.accounts.audit.note(AuditEvent(act, by: .administrator, about: "replication"))
        }
        return try await answer(reply)
      },
      .couchAdministrator(.get, "/_active_tasks") { _, _ in
        .list(replications.activeTasks) { $1.value(.object($0)) }
      },
      .couchAdministrator(.get, "/_scheduler/jobs") { call, _ in
        let jobs = replications.scheduledJobs
        return try Self.page(of: jobs, as: "jobs", limit: Self.listedJobs, call)
      },
      .couchAdministrator(.get, "/_scheduler/jobs/{job}") { call, _ in
        try Self.one(replications.scheduledJob(try call.parameter("job").replacingSpaces))
      },
      .couchAdministrator(.get, "/_scheduler/docs") { call, _ in try documents(call) },
      .couchAdministrator(.get, "/_scheduler/docs/{db}") { call, _ in
        try Self.requireReplicator(call)
        return try documents(call)
      },
      .couchAdministrator(.get, "/_scheduler/docs/{db}/{docid}") { call, _ in
        try Self.requireReplicator(call)
        return try Self.one(try await replications.scheduledDocument(call.parameter("docid")))
      },
    ]
  }

  /// What the audit log records.
  private static func act(_ reply: ReplicationReply) -> AuditEvent.Kind? {
    switch reply {
    case .continuous, .once: .jobStarted
    case .cancelled: .jobCancelled
    case .absent: nil
    }
  }

  private static let noServerID = ServiceError(
    .unavailable, "The server has no id yet, because nothing can be written now")

  /// - Throws: 404 for any other database.
  private static func requireReplicator(_ call: Call) throws {
    guard try DatabaseName(call.parameter("db")) == .replicator else { throw ServiceError.missing }
  }

  private static func one(_ job: JSONObject?) throws -> Response {
    guard let job else { throw ServiceError.missing }
    return response(.ok, job)
  }

  /// The states of replications.
  ///
  /// Source: CouchDB, `couch_replicator:replication_states/0`.
  private static let states = [
    "initializing", "error", "running", "pending", "crashing", "completed", "failed",
  ]

  /// The documents, or those in the states of the parameter `states`.
  private func documents(_ call: Call) throws -> Response {
    let text = try call.couchParameters()["states"] ?? ""
    let wanted = text.lowercased().split(separator: ",").map { String($0) }
    let unknown = wanted.filter { !Self.states.contains($0) }
    guard unknown.isEmpty else {
      throw ServiceError.badQuery(
        "Unknown states [\(unknown.joined(separator: ",").prefix(64))]. "
          + "Choose from: [\(Self.states.joined(separator: ","))]")
    }
    let all = replications.scheduledDocuments
    let chosen = all.filter { wanted.isEmpty || wanted.contains($0["state"]?.string ?? "") }
    return try Self.page(of: chosen, outOf: all.count, as: "docs", call)
  }

  private static func page(
    of jobs: [JSONObject], outOf total: Int? = nil, as name: String, limit: Int = .max, _ call: Call
  ) throws -> Response {
    let parameters = try call.couchParameters()
    let offset = min(try parameters.count("skip") ?? 0, jobs.count)
    let page = jobs.dropFirst(offset).prefix(try parameters.count("limit") ?? limit)
    return .json(headers: Response.couchFields) { writer in
      writer.member("total_rows", total ?? jobs.count)
      writer.member("offset", offset)
      writer.array(name, of: page) { $1.value(.object($0)) }
    }
  }

  private func answer(_ reply: ReplicationReply) async throws -> Response {
    switch reply {
    case .absent: throw ServiceError.missing
    case .cancelled(let id): return Self.response(.ok, ["ok": true, "_local_id": .string(id)])
    case .continuous(let id):
      return Self.response(.accepted, ["ok": true, "_local_id": .string(id)])
    case .once(let end):
      let outcome = LateValue(end)
      guard let known = await outcome.value(within: patience) else { return Self.late(outcome) }
      return Self.response(known.status, known.answer)
    }
  }

  private static func response(_ status: HTTPResponse.Status, _ body: JSONObject) -> Response {
    .json(JSONValue.object(body).bytes + [0x0A], status: status, headers: Response.couchFields)
  }

  /// An answer that begins before its replication ends. Line ends, which JSON may begin with, keep the connection open.
  static func late(_ outcome: LateValue<Result<JSONObject, ReplicationReply.Failure>>) -> Response {
    var fields = Response.couchFields
    fields[.contentType] = "application/json"
    fields[.accelBuffering] = "no"
    return Response(
      status: .ok, headers: fields,
      body: ResponseBody { writer in
        var known: Result<JSONObject, ReplicationReply.Failure>?
        while known == nil {
          try await writer.write(ByteBuffer(string: "\n"))
          known = await outcome.value(within: beat)
        }
        let answer = known?.answer ?? [:]
        try await writer.write(ByteBuffer(bytes: JSONValue.object(answer).bytes + [0x0A]))
        try await writer.finish(nil)
      })
  }
}

extension Result<JSONObject, ReplicationReply.Failure> {
  /// As in CouchDB, a failed replication is 500, unless an end does not let it in, or has no such filter.
  fileprivate var status: HTTPResponse.Status {
    guard case .failure(let failure) = self else { return .ok }
    return switch failure.error {
    case "unauthorized": .unauthorized
    case "forbidden": .forbidden
    case "not_found": .notFound
    default: .internalServerError
    }
  }

  fileprivate var answer: JSONObject {
    switch self {
    case .success(let members):
      var answer: JSONObject = ["ok": true]
      for (name, value) in members.members { answer.append(name, value) }
      return answer
    case .failure(let failure):
      return ["error": .string(failure.error), "reason": .string(failure.reason)]
    }
  }
}

extension String {
  /// A path's `+` is decoded as a space, as in CouchDB; the ids of jobs have `+`.
  fileprivate var replacingSpaces: String {
    String(decoding: utf8.map { $0 == 0x20 ? 0x2B : $0 }, as: UTF8.self)
  }
}
