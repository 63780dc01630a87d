import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
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
      try await CouchProblem.translating {
        try await run(call, try await databases.store(try call.parameter("db"), for: caller))
      }
    }
  }

  /// Who may use which database.
  var databases: CouchDatabaseAccess { CouchDatabaseAccess(stores: stores, now: now) }

  /// The server itself.
  private var couchServerRoutes: [Route] {
    [
      .open(.get, "/couch") { _ in
        .json(headers: Response.couchFields) { writer in
          writer.member("couchdb", "Welcome")
          writer.member("version", "3.5.0")
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
        try await CouchProblem.translating {
          var generator = SystemRandomNumberGenerator()
          let answer = try CouchUUIDs.answer(try call.couchParameters(), using: &generator)
          return .json(answer.body, headers: [.cacheControl: "no-store"])
        }
      },
    ]
  }

  /// What CouchDB has and this service has not.
  private var couchRefusals: [Route] {
    [
      couch(.get, "/_design/{design}/_view/{view}") { _, _ in
        throw CouchProblem.notOffered("Views are")
      },
      couch(.post, "/_design/{design}/_view/{view}/queries") { _, _ in
        throw CouchProblem.notOffered("Views are")
      },
      couch(.post, "/_design/{design}/_view/{view}") { _, _ in
        throw CouchProblem.notOffered("Views are")
      },
    ]
  }
}

extension Response {
  /// What CouchDB says of keeping an answer: only with asking again.
  static let couchFields: HTTPFields = [.cacheControl: "must-revalidate"]

  /// A verb's answer, with an entity tag where the revision stands for the body.
  static func couch(_ answer: CouchAnswer, location: String? = nil) -> Response {
    var fields = couchFields
    if let revision = answer.revision { fields[.eTag] = "\"\(revision)\"" }
    if let location { fields[.location] = location }
    return .json(answer.body, status: .init(integerLiteral: answer.status), headers: fields)
  }

  /// `{"ok":true}`.
  static func couchDone(
    _ status: HTTPResponse.Status = .ok, headers: HTTPFields = couchFields
  ) -> Response {
    .json(status, headers: headers) { $0.member("ok", true) }
  }
}
