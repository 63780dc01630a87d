import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// The root of a CouchDB 3 server. Everybody has one database, their own store, and the administrator has the databases
/// that they create.
struct CouchServerController: Sendable {
  let databases: CouchDatabaseAccess
  /// The known health.
  let health: Health

  var routes: [Route] {
    [
      Route(.get, "/couch", access: .open, cost: .free) { _, _ in
        let uuid = try await databases.stores.serverID()
        return .json(headers: Response.couchFields) { writer in
          writer.member("couchdb", "Welcome")
          writer.member("version", "3.5.0")
          if let uuid { writer.member("uuid", uuid) }
          writer.array("features", of: [String]()) { $1.string($0) }
          writer.object("vendor") { $0.member("name", "Hotel Bookmarks") }
        }
      },
      Route(.get, "/couch/_up", access: .open, cost: .free) { _, _ in health.answer(.up).response },
      Route(.get, "/couch/_uuids", access: .open, cost: .free) { call, _ in
        let answer = try CouchUUIDs.answer(try call.couchParameters())
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
}
