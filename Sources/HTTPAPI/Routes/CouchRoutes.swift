import Accounts
import CouchSync
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON
import Lists
import Logging
import Stores
import Synchronization

/// The sync protocol under `/couch`: the root of a CouchDB 3 server. Everybody has one database, their own store, and
/// the administrator has the databases that they create.
extension HTTPService {
  /// All routes of the sync protocol.
  var couchRoutes: [Route] {
    couchServerRoutes + couchSessionRoutes + couchAdministratorRoutes + couchDatabaseRoutes
      + couchDocumentRoutes + couchReplicationRoutes + couchQueryRoutes + couchMaintenanceRoutes
      + couchRefusals
  }

  /// A route below `/couch/{db}`, for callers who may use that database. For all others the database appears absent.
  /// - Parameter path: the rest of the path.
  func couch(
    _ method: HTTPRequest.Method, _ path: String, isFeed: Bool = false,
    _ run: @escaping @Sendable (Call, CouchStore) async throws -> Response
  ) -> Route {
    Route(method, "/couch/{db}" + path, access: .signedIn, isFeed: isFeed) { call, caller in
      let name = try call.parameter("db")
      if let absent = CouchAbsence.error(at: name, call.arguments["docid"]) { throw absent }
      var store = try await databases.store(name, for: caller)
      store.reservation = call.context.reservation
      return try await run(call, store)
    }
  }

  /// Decides who may use which database.
  var databases: CouchDatabaseAccess {
    CouchDatabaseAccess(stores: stores, accounts: accounts, lists: lists)
  }

  /// The routes of the server itself.
  private var couchServerRoutes: [Route] {
    [
      Route(.get, "/couch", access: .open, cost: .free) { _, _ in
        let uuid = try await databases.serverID()
        return .json(headers: Response.couchFields) { writer in
          writer.member("couchdb", "Welcome")
          writer.member("version", "3.5.0")
          if let uuid { writer.member("uuid", uuid) }
          writer.name("features")
          writer.beginArray()
          writer.endArray()
          writer.name("vendor")
          writer.beginObject()
          writer.member("name", "Hotel Bookmarks")
          writer.endObject()
        }
      },
      Route(.get, "/couch/_up", access: .open, cost: .free) { _, _ in health.answer(.up).response },
      Route(.get, "/couch/_uuids", access: .open, cost: .free) { call, _ in
        var generator = SystemRandomNumberGenerator()
        let answer = try CouchUUIDs.answer(try call.couchParameters(), using: &generator)
        return .json(
          answer.body,
          headers: [
            .cacheControl: "no-cache", .pragma: "no-cache",
            .eTag:
              "\"\(Hex.digest(of: String(decoding: answer.body, as: UTF8.self), digits: 32))\"",
            .expires: "Thu, 01 Jan 1970 00:00:00 GMT",
          ])
      },
    ]
  }

  /// The functions of design documents, which CouchDB runs and this service does not. It only stores them.
  private var couchRefusals: [Route] {
    [
      function(.get, .views, "/_view/{function}"), function(.post, .views, "/_view/{function}"),
      function(.post, .views, "/_view/{function}/queries"),
      function(.get, .shows, "/_show/{function}"),
      function(.get, .shows, "/_show/{function}/{docid}"),
      function(.get, .lists, "/_list/{function}/{view}"),
      function(.post, .updates, "/_update/{function}"),
      function(.put, .updates, "/_update/{function}/{docid}"),
    ]
  }

  private func function(
    _ method: HTTPRequest.Method, _ kind: DesignFunction.Kind, _ path: String
  ) -> Route {
    couch(method, "/_design/{design}" + path) { call, store in
      let function = try DesignFunction(
        kind, try call.parameter("function"), in: try call.parameter("design"))
      return try await store.reading { database in
        try await database.run(function)
      }
    }
  }
}

extension Response {
  /// CouchDB's caching rule: caches have to revalidate an answer.
  static let couchFields: HTTPFields = [.cacheControl: "must-revalidate"]

  /// The answer of an operation, with an entity tag if it has a revision.
  static func couch(
    _ answer: CouchAnswer, type: String = "application/json", location: String? = nil
  ) -> Response {
    var fields = couchFields
    if let revision = answer.revision { fields[.eTag] = "\"\(revision)\"" }
    if let location { fields[.location] = location }
    return .inPieces(
      answer.pieces, status: .named(answer.status), type: type, headers: fields)
  }

  /// `{"ok":true}`.
  static func couchDone(
    _ status: HTTPResponse.Status = .ok, headers: HTTPFields = couchFields
  ) -> Response {
    .json(status, headers: headers) { $0.member("ok", true) }
  }
}

/// CouchDB's rules for the head of every request and answer in its dialect.
///
/// Source: CouchDB 3, `chttpd:handle_request_int/1`.
enum CouchHead {
  private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .copy]

  /// The request with the method that the client means: a `POST` may name another method in `X-HTTP-Method-Override`,
  /// because some clients and proxies know only GET and POST.
  static func applyingMethodOverride(to request: Request) -> Request {
    guard request.method == .post, let name = request.headers.value(of: .methodOverride)
    else { return request }
    // `HEAD` becomes `GET`: an answer to HEAD has no body, and a client that sent POST would wait for one.
    guard let method = methods.first(where: { $0.rawValue == (name == "HEAD" ? "GET" : name) })
    else { return request }
    var head = request.head
    head.method = method
    return Request(head: head, body: request.body)
  }

  /// Adds CouchDB's `X-Couch-Request-ID` to an answer: the client's own, if it has CouchDB's form. Otherwise a failure has
  /// the same id in the log.
  static func addRequestID(to fields: inout HTTPFields, of request: Request) {
    let given = request.headers[.couchRequestID].flatMap { isRequestID($0) ? $0 : nil }
    fields[.couchRequestID] = given ?? fields[.xRequestID] ?? nextID()
  }

  private static func isRequestID(_ text: String) -> Bool {
    (1...36).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
        default: false
        }
      }
  }

  /// An id of ten digits. It only has to differ from other ids, so it comes from a counter: random numbers of the
  /// system would cost a system call in each request. The step spreads the ids over all digits.
  private static func nextID() -> String {
    let number = lastID.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    return withUnsafeBytes(of: number.bigEndian) { Hex.string($0.prefix(5)) }
  }

  private static let lastID = Atomic(UInt64.random(in: .min ... .max))
}

/// The operations of CouchDB that this service does not have. Their names stand where a database's or a document's name
/// stands. The answer names the operation: that a database or a document is missing would be misleading.
///
/// Source: CouchDB, "API reference": `chttpd_handlers`.
enum CouchAbsence {
  /// Those of databases.
  private static let ofDatabases: Set<String> = [
    "_shards", "_sync_shards", "_partition", "_auto_purge", "_nouveau_cleanup", "_search_cleanup",
  ]

  /// 404 `not_found` for an operation that is absent; nil for anything else.
  /// - Parameter database: the first name of the path. No database's name begins with `_`.
  /// - Parameter document: the second name, percent-encoded as sent; nil for none.
  static func error(at database: some StringProtocol, _ document: String?) -> ServiceError? {
    if database.utf8.first == UInt8(ascii: "_") { return error(String(database)) }
    return document.flatMap { ofDatabases.contains($0) ? error($0) : nil }
  }

  private static func error(_ name: String) -> ServiceError {
    ServiceError(.missing, "CouchDB's \(name.prefix(64)) is not offered here")
  }
}

/// A database as a whole.
///
/// Source: CouchDB, "API reference: databases".
extension HTTPService {
  /// `/couch/{db}` and the operations on many documents.
  var couchDatabaseRoutes: [Route] {
    [
      couch(.get, "") { _, store in
        .couch(try await store.reading { database in try await database.info() })
      },
      couch(.post, "") { call, store in
        let parameters = try call.couchParameters()
        let body = try await call.couchPosted(store.documentLimits)
        let answer = try await store.writing { database in
          try await database.post(body)
        }
        return written(answer, parameters, call)
      },
      couch(.get, "/_all_docs") { call, store in
        try await allDocuments(AllDocumentsQuery(try call.couchParameters()), call, store)
      },
      couch(.post, "/_all_docs") { call, store in
        let body = try await call.couchObject()
        return try await allDocuments(
          AllDocumentsQuery(try call.couchParameters(), body: body), call, store)
      },
      couch(.post, "/_bulk_docs") { call, store in
        let body = try await call.couchBulk(
          store.documentLimits, stored: store.storedBytes, bodyFiles)
        let answer = try await store.writing { database in
          switch body {
          case .short(let request): try await database.bulkDocuments(request)
          case .long(let request):
            try await database.bulkDocuments(request) { [channel = call.context.channel] in
              channel.triggerUserOutboundEvent(RequestProgressed(), promise: nil)
            }
          }
        }
        warn(of: answer, call)
        return .couch(answer)
      },
      couch(.post, "/_ensure_full_commit") { _, _ in .couch(CouchDatabase.fullCommit) },
    ]
  }

  /// The answer to a write of a document. As in CouchDB the answer to `batch=ok` has no revision, although the document
  /// is already written here.
  func written(
    _ answer: CouchAnswer, _ parameters: CouchParameters, _ call: Call
  ) -> Response {
    guard parameters["batch"] == "ok", let id = answer.written else {
      return .couch(answer, location: location(of: answer, call))
    }
    return .json(.accepted, headers: Response.couchFields) { writer in
      writer.member("ok", true)
      writer.member("id", id.text)
    }
  }

  /// Warns the operator of a `validate_doc_update` function, which is not run.
  func warn(of answer: CouchAnswer, _ call: Call) {
    guard answer.hasUnrunRules else { return }
    call.context.logger.warning(
      "a peer's design document has validate_doc_update, which is stored and not run")
  }

  /// The URL of a written document; nil if it was deleted.
  func location(of answer: CouchAnswer, _ call: Call) -> String? {
    guard answer.status == 201 else { return nil }
    return answer.written.map { id in
      let database = call.arguments["db"] ?? ""
      // The slash after `_design` and `_local` stays a slash.
      let text = id.text.utf8
      let prefix = id.isDesign ? text.prefix { $0 != UInt8(ascii: "/") }.count + 1 : 0
      return address.url(for: call) + "/couch/\(database)/" + String(Substring(text.prefix(prefix)))
        + String(Substring(text.dropFirst(prefix))).urlSegment
    }
  }

  /// Answers `_all_docs`, `_design_docs` or `_local_docs`.
  func allDocuments(
    _ query: AllDocumentsQuery, _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    try await couchResponse(
      try await store.reading { database in try await database.allDocuments(query) }, call, store)
  }
}

/// Finds the database that a path names, if the caller may use it.
///
/// A guest has one database, their own. A user has their own, those of their lists, and those of the administrator
/// whose security document names them. The administrator has those that they created, but no other person's own.
struct CouchDatabaseAccess: Sendable {
  /// The stores.
  let stores: DatabaseManager
  /// Knows who exists.
  let accounts: AccountService
  /// Knows the members of lists.
  let lists: ListService

  /// The database with a name.
  /// - Throws: `noDatabase` for one that is absent or that the caller may not use; the errors of opening a store.
  func store(_ text: String, for caller: Principal) async throws -> CouchStore {
    if caller.kind != .administrator, text.equalsBytes(of: caller.storeName) {
      return CouchStore(
        stores: stores, accounts: accounts, lists: lists, name: caller.store, database: text,
        caller: caller)
    }
    if caller.kind == .user, let list = Self.list(text) {
      return try await used(.list(list), text, caller)
    }
    // A guest needs no look-up, because no security document can name a guest.
    guard caller.kind != .guest, let name = DatabaseName(text) else {
      throw ServiceError.noDatabase
    }
    return try await used(.named(name), text, caller)
  }

  /// A database that is not the caller's own.
  private func used(
    _ name: StoreName, _ text: String, _ caller: Principal
  ) async throws -> CouchStore {
    let store = CouchStore(
      stores: stores, accounts: accounts, lists: lists, name: name, database: text,
      caller: caller)
    try await store.require(.use)
    return store
  }

  /// The list whose database has this name: `list-<id>`.
  private static func list(_ text: String) -> AccountID? {
    let prefix = "list-".utf8
    guard text.utf8.starts(with: prefix) else { return nil }
    return AccountID(String(Substring(text.utf8.dropFirst(prefix.count))))
  }

  /// The server's own id, which stays the same as long as its data exist. PouchDB uses it in the ids of its
  /// checkpoints. It comes from the system store, which the first question makes.
  /// - Returns: nil while nothing can be written and there is no such store yet.
  func serverID() async throws -> String? {
    do {
      return try await stores.withStore(.system) { store in
        let epoch = try await store.readInline { view in try view.info().firstEpoch }
        return Hex.digest(of: "server " + epoch, digits: 32)
      }
    } catch let error as ServiceError where [.storageFull, .readOnly].contains(error.code) {
      return nil
    }
  }

  /// Creates a database, for the administrator. If several ask at once, only one gets the answer that it was created.
  /// - Throws: 400 `illegal_database_name`, 412 `file_exists`, the errors of creating a store.
  func make(_ text: String) async throws {
    let name = try Self.name(text)
    try await stores.withStore(.named(name)) { store in
      try CouchDatabase(name: text, store: store).requireNew()
    }
  }

  /// Deletes a database and its content, for the administrator.
  /// - Throws: 404 `not_found`, the errors of erasing a store.
  func drop(_ text: String) async throws {
    guard let name = DatabaseName(text) else { throw ServiceError.noDatabase }
    guard try await stores.erase(.named(name)) else { throw ServiceError.noDatabase }
  }

  /// Source of the texts: CouchDB 3, `chttpd:error_info/1`.
  private static func name(_ text: String) throws -> DatabaseName {
    if let name = DatabaseName(text) { return name }
    if DatabaseName.isPersonal(text) {
      throw ServiceError.illegalName(
        "Names of this form are those of people's own stores, which make themselves.")
    }
    if text.utf8.count > DatabaseName.maximumBytes {
      throw ServiceError(
        .databaseNameTooLong,
        "A database's name has at most \(DatabaseName.maximumBytes) bytes.")
    }
    throw ServiceError.illegalName(
      """
      Name: '\(text)'. Only lowercase characters (a-z), digits (0-9), and any of the characters \
      _, $, (, ), +, -, and / are allowed. Must begin with a letter.
      """)
  }
}
