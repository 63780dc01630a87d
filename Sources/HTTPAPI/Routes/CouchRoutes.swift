import Accounts
import CouchSync
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// The sync protocol under `/couch`: a CouchDB 3 root where everybody has one database, their own store, and
/// the administrator has those that they make.
extension HTTPService {
  /// Every operation of the dialect.
  var couchRoutes: [Route] {
    couchServerRoutes + couchSessionRoutes + couchAdministratorRoutes + couchDatabaseRoutes
      + couchDocumentRoutes + couchReplicationRoutes + couchQueryRoutes + couchUpkeepRoutes
      + couchRefusals
  }

  /// A route below `/couch/{db}`, for those who may use that database. To everybody else it is answered as an
  /// absent one.
  /// - Parameter path: what follows the database.
  func couch(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, CouchStore) async throws -> Response
  ) -> Route {
    .signedIn(method, "/couch/{db}" + path) { call, caller in
      var store = try await databases.store(try call.parameter("db"), for: caller)
      store.hold = call.context.hold
      return try await run(call, store)
    }
  }

  /// Who may use which database.
  var databases: CouchDatabaseAccess { CouchDatabaseAccess(stores: stores, lists: lists) }

  /// The server itself.
  private var couchServerRoutes: [Route] {
    [
      .open(.get, "/couch") { _ in
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
      .open(.get, "/couch/_up") { _ in health.answer(.up).response },
      .open(.get, "/couch/_uuids") { call in
        var generator = SystemRandomNumberGenerator()
        let answer = try CouchUUIDs.answer(try call.couchParameters(), using: &generator)
        return .json(
          answer.body,
          headers: [
            .cacheControl: "no-cache",
            .eTag:
              "\"\(Hex.digest(of: String(decoding: answer.body, as: UTF8.self), digits: 32))\"",
            .expires: "Thu, 01 Jan 1970 00:00:00 GMT",
          ])
      },
    ]
  }

  /// What CouchDB has and this service has not: functions of design documents. They are stored, and none is run.
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
  /// What CouchDB says of keeping an answer: only with asking again.
  static let couchFields: HTTPFields = [.cacheControl: "must-revalidate"]

  /// A verb's answer, with an entity tag where the revision stands for the body.
  static func couch(
    _ answer: CouchAnswer, type: String = "application/json", location: String? = nil
  ) -> Response {
    var fields = couchFields
    if let revision = answer.revision { fields[.eTag] = "\"\(revision)\"" }
    if let location { fields[.location] = location }
    return .inPieces(
      answer.pieces, status: .init(integerLiteral: answer.status), type: type, headers: fields)
  }

  /// `{"ok":true}`.
  static func couchDone(
    _ status: HTTPResponse.Status = .ok, headers: HTTPFields = couchFields
  ) -> Response {
    .json(status, headers: headers) { $0.member("ok", true) }
  }
}

/// What CouchDB does with the head of every request and answer, below `/couch`.
///
/// Source: CouchDB 3, `chttpd:handle_request_int/1`.
enum CouchHead {
  private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .copy]

  /// The request as it is meant: a `POST` may name another method in `X-HTTP-Method-Override`, for clients and proxies
  /// that know only two.
  static func meant(by request: Request) -> Request {
    guard request.method == .post, Problem.Dialect(path: request.uri.path) == .couch,
      let name = request.headers.value(of: .methodOverride)
    else { return request }
    // HEAD's answer has no body, which who has sent a POST would wait for.
    guard let method = methods.first(where: { $0.rawValue == (name == "HEAD" ? "GET" : name) })
    else { return request }
    var head = request.head
    head.method = method
    return Request(head: head, body: request.body)
  }

  /// Names an answer, as CouchDB's support asks for; a failure has the same name in the log.
  static func name(_ fields: inout HTTPFields, of request: Request) {
    guard Problem.Dialect(path: request.uri.path) == .couch else { return }
    var generator = SystemRandomNumberGenerator()
    fields[.couchRequestID] =
      fields[.xRequestID] ?? String(Hex.string(generator.next(), generator.next()).prefix(10))
  }
}
