import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// Creating, listing and deleting databases, which only the administrator may do, and the other operations of CouchDB's
/// server for an administrator. None of them changes the server's settings or runs code.
///
/// Source: CouchDB, "API reference: server" and "databases".
extension HTTPService {
  /// How many names are read from the engine at a time.
  private static let namesAtATime = 1_000

  /// `PUT` and `DELETE /couch/{db}`, `_all_dbs`, `_dbs_info`, `_active_tasks`, `_replicate`.
  var couchAdministratorRoutes: [Route] {
    [
      caller(.put, "/{db}") { call, caller in try await makeDatabase(call, caller) },
      caller(.delete, "/{db}") { call, caller in try await dropDatabase(call, caller) },
      administrator(.get, "/_all_dbs") { call, _ in
        let query = try DatabaseNamesQuery(try call.couchParameters())
        return Self.list(query.chosen(from: try await databaseNames())) { $1.string($0) }
      },
      administrator(.get, "/_dbs_info") { call, caller in
        let query = try DatabaseNamesQuery(try call.couchParameters())
        var names = query.keys ?? []
        if query.keys == nil { names = query.chosen(from: try await databaseNames()) }
        return try await databasesInfo(names, caller)
      },
      administrator(.post, "/_dbs_info") { call, caller in
        try await databasesInfo(Self.keys(in: try await call.couchObject()), caller)
      },
      administrator(.get, "/_active_tasks") { _, _ in Self.list([]) { $1.string($0) } },
      caller(.post, "/_replicate") { _, _ in
        throw ServiceError(
          .notImplemented,
          "This server runs no replications. Start them at the other end: PouchDB, or a CouchDB's "
            + "_replicate or _replicator with this database's URL as source or target")
      },
    ]
  }

  private func caller(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, Principal) async throws -> Response
  ) -> Route {
    Route(method, "/couch" + path, access: .signedIn) { call, caller in
      try await run(call, caller)
    }
  }

  private func administrator(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, Principal) async throws -> Response
  ) -> Route {
    caller(method, path) { call, caller in
      guard caller.kind == .administrator else { throw ServiceError.notAdministrator }
      return try await run(call, caller)
    }
  }

  /// Creates a database. Anyone but the administrator may only create their own store, which needs no creation. For any
  /// other name they get the same answer, whether or not it exists.
  private func makeDatabase(_ call: Call, _ caller: Principal) async throws -> Response {
    let name = try call.parameter("db")
    if caller.kind == .administrator {
      guard try !call.couchParameters().flag("partitioned") else {
        throw ServiceError.notOffered("Partitioned databases are")
      }
      try await databases.make(name)
    } else {
      guard name.equalsBytes(of: caller.storeName) else { throw ServiceError.notAdministrator }
      try await databases.store(name, for: caller).make()
    }
    var fields = Response.couchFields
    fields[.location] = address.url(for: call) + "/couch/" + name.urlSegment
    return .couchDone(.created, headers: fields)
  }

  private func dropDatabase(_ call: Call, _ caller: Principal) async throws -> Response {
    let name = try call.parameter("db")
    guard caller.kind == .administrator else {
      guard name.equalsBytes(of: caller.storeName) else { throw ServiceError.notAdministrator }
      throw ServiceError(
        .forbidden, "Your own store goes with your account: DELETE /v1/me erases both.")
    }
    guard try call.couchParameters()["rev"] == nil else {
      throw ServiceError.badRequest(
        "You tried to DELETE a database with a ?=rev parameter. "
          + "Did you mean to DELETE a document instead?")
    }
    try await databases.drop(name)
    return .couchDone()
  }

  /// The databases that the administrator created, in byte order, without people's own stores.
  private func databaseNames() async throws -> [String] {
    var names: [String] = []
    var last: String?
    while true {
      let page = try await engine.names(in: "named", after: last, limit: Self.namesAtATime)
      for case .named(let name) in page { names.append(name.text) }
      guard page.count == Self.namesAtATime, let key = page.last?.key else { return names }
      last = key
    }
  }

  private static func keys(in body: JSONNode) throws -> [String] {
    guard let keys = body["keys"] else {
      throw ServiceError.badRequest("`keys` member must exist.")
    }
    guard keys.kind == .array else {
      throw ServiceError.badRequest("`keys` member must be an array.")
    }
    guard keys.count <= DatabaseNamesQuery.maximumKeys else {
      throw ServiceError.badRequest("`keys` has at most \(DatabaseNamesQuery.maximumKeys) names.")
    }
    var names: [String] = []
    for key in keys.elements {
      guard let name = key.string else { throw ServiceError.badRequest("`keys` must be names.") }
      names.append(name)
    }
    return names
  }

  /// The information about each database, or `not_found`.
  private func databasesInfo(_ names: [String], _ caller: Principal) async throws -> Response {
    var rows: [(name: String, info: [UInt8]?)] = []
    for name in names {
      do {
        let answer = try await databases.store(name, for: caller).reading {
          database in try await database.info()
        }
        rows.append((name, answer.body))
      } catch let error as ServiceError where error == .noDatabase {
        rows.append((name, nil))
      }
    }
    return Self.list(rows) { row, writer in
      writer.beginObject()
      writer.member("key", row.name)
      if let info = row.info {
        writer.name("info")
        writer.raw(info)
      } else {
        writer.member("error", "not_found")
      }
      writer.endObject()
    }
  }

  private static func list<Element>(
    _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
  ) -> Response {
    var writer = JSONWriter()
    writer.beginArray()
    for element in elements { write(element, &writer) }
    writer.endArray()
    return .json(writer.bytes, headers: Response.couchFields)
  }
}

/// Rights on a database, and its compaction.
///
/// Source: CouchDB, "API reference: databases": "security", "compact", "purge", "revs_limit".
extension HTTPService {
  /// `_security`, `_purge`, `_compact`, `_view_cleanup`, `_revs_limit`, `_purged_infos_limit`.
  var couchMaintenanceRoutes: [Route] {
    [
      couch(.get, "/_security") { _, store in
        .couch(
          try await store.reading { database in try await database.security() })
      },
      couch(.put, "/_security") { call, store in
        try await store.require(.secure)
        let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
        let security = try SecurityDocument(try CouchBody.parse(bytes, limits: .small))
        return .couch(
          try await store.writing(needing: .secure) { database in
            try await database.setSecurity(security)
          })
      },
      couch(.post, "/_purge") { call, store in
        try await store.require(.purge)
        let request = try PurgeRequest(try await call.couchObject())
        return .couch(
          try await store.writing(needing: .purge) { database in
            try await database.purge(request)
          })
      },
      couch(.post, "/_compact") { _, store in try await Self.compact(store) },
      couch(.post, "/_compact/{design}") { call, store in
        let design = try DocumentID("_design/" + call.parameter("design"))
        _ = try await store.reading(needing: .compact) { database in
          try await database.document(design)
        }
        // An index without a definition is removed together with the definition, so nothing remains to do.
        return .couchDone(.accepted)
      },
      couch(.post, "/_view_cleanup") { _, store in
        try await store.require(.compact)
        return .couchDone(.accepted)
      },
      couch(.get, "/_revs_limit") { _, store in
        .couch(
          try await store.reading { database in
            try await database.revisionsLimit()
          })
      },
      couch(.put, "/_revs_limit") { call, store in
        try await store.require(.purge)
        let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
        let limit = try CouchBody.parse(bytes, limits: .small)
        return .couch(
          try await store.writing(needing: .purge) { database in
            try await database.setRevisionsLimit(limit)
          })
      },
      couch(.get, "/_purged_infos_limit") { _, _ in throw noPurgedInfos },
      couch(.put, "/_purged_infos_limit") { _, _ in throw noPurgedInfos },
    ]
  }

  private static func compact(_ store: CouchStore) async throws -> Response {
    .couch(
      try await store.writing(needing: .compact, creating: false) { database in
        try await database.compact()
      })
  }

  private var noPurgedInfos: ServiceError {
    ServiceError(.notImplemented, "No list of purges is kept that could have a limit")
  }
}
