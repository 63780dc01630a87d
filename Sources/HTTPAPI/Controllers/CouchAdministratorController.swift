import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// Creating, listing and deleting databases, which only the administrator may do, and the other operations of CouchDB's
/// server for an administrator. None of them changes the server's settings or runs code.
///
/// Source: CouchDB, "API reference: server" and "databases".
struct CouchAdministratorController: Sendable {
  /// How many names are read from the engine at a time.
  private static let namesAtATime = 1_000

  let databases: CouchDatabaseAccess
  let engine: any StorageEngine
  let address: ServerAddress

  var routes: [Route] {
    [
      .couch(.put, "/{db}", makeDatabase),
      .couch(.delete, "/{db}", dropDatabase),
      .couchAdministrator(.get, "/_all_dbs") { call, _ in
        let query = try DatabaseNamesQuery(try call.couchParameters())
        return .list(query.chosen(from: try await databaseNames())) { $1.string($0) }
      },
      .couchAdministrator(.get, "/_dbs_info") { call, caller in
        let query = try DatabaseNamesQuery(try call.couchParameters())
        var names = query.keys ?? []
        if query.keys == nil { names = query.chosen(from: try await databaseNames()) }
        return try await databasesInfo(names, caller, as: call.writeContext)
      },
      .couchAdministrator(.post, "/_dbs_info") { call, caller in
        try await databasesInfo(
          Self.keys(in: try await call.couchObject()), caller, as: call.writeContext)
      },
    ]
  }

  /// Creates a database. Anyone but the administrator may only create their own store, which needs no creation. For any
  /// other name they get the same answer, whether or not it exists.
  private func makeDatabase(_ call: Call, _ caller: Principal) async throws -> Response {
    let name = try call.parameter("db")
    if caller.kind == .administrator {
      switch try call.couchParameters()["partitioned"] {
      case nil, "false": break
      case "true": throw ServiceError.notOffered("Partitioned databases are")
      default: throw ServiceError.badRequest("Invalid `partitioned` parameter")
      }
      try await databases.make(name)
    } else {
      guard name.equalsBytes(of: caller.storeName) else { throw ServiceError.notAdministrator }
      try await databases.store(name, for: caller, as: call.writeContext).make()
    }
    var fields = Response.couchFields
    fields[.location] = address.couchURL(for: call) + "/" + name.urlSegment
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
      for case .named(let name) in page where name != .remotes { names.append(name.text) }
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
    return try keys.elements.map { key in
      guard let name = key.string else { throw ServiceError.badRequest("`keys` must be names.") }
      return name
    }
  }

  /// The information about each database, or `not_found`.
  private func databasesInfo(
    _ names: [String], _ caller: Principal, as context: WriteContext
  ) async throws -> Response {
    var rows: [(name: String, info: [UInt8]?)] = []
    for name in names {
      do {
        let answer = try await databases.store(name, for: caller, as: context).read {
          database in try await database.info()
        }
        rows.append((name, answer.body))
      } catch let error as ServiceError where error == .noDatabase {
        rows.append((name, nil))
      }
    }
    return .list(rows) { row, writer in
      writer.object { writer in
        writer.member("key", row.name)
        if let info = row.info { return writer.member("info", raw: info) }
        writer.member("error", "not_found")
      }
    }
  }
}

extension Route {
  /// A route below `/couch` for signed-in callers.
  static func couch(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, Principal) async throws -> Response
  ) -> Route { Route(method, "/couch" + path, access: .signedIn, run: run) }

  /// A route below `/couch` for the administrator; 403 for others.
  static func couchAdministrator(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, Principal) async throws -> Response
  ) -> Route {
    couch(method, path) { call, caller in
      guard caller.kind == .administrator else { throw ServiceError.notAdministrator }
      return try await run(call, caller)
    }
  }
}

extension Response {
  /// An array of CouchDB's API.
  static func list<Element>(
    _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
  ) -> Response {
    var writer = JSONWriter()
    writer.array(elements, write)
    return .json(writer.bytes, headers: Response.couchFields)
  }
}
