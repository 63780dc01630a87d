import CouchQuery
import CouchSync
import HTTPTypes
import Hummingbird

/// Mango: queries by a selector, and their indexes. Views and other functions are refused.
///
/// Source: CouchDB, "POST /{db}/_find", "/{db}/_index", "POST /{db}/_explain".
struct CouchQueryController: Sendable {
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [
      databases.route(.post, "/_find") { call, store in
        let request = try FindRequest(try await call.couchObject())
        return .couch(try await store.read { try await $0.find(request) })
      },
      databases.route(.post, "/_explain") { call, store in
        let request = try FindRequest(try await call.couchObject())
        return .couch(try await store.read { try await $0.explain(request) })
      },
      databases.route(.get, "/_index") { call, store in
        let parameters = try call.couchParameters()
        return .couch(try await store.read { try await $0.queryIndexes(parameters) })
      },
      databases.route(.post, "/_index") { call, store in
        let request = try IndexRequest(try await call.couchObject())
        return .couch(try await store.write(needing: .design) { try await $0.createIndex(request) })
      },
      databases.route(.post, "/_index/_bulk_delete") { call, store in
        let body = try await call.couchObject()
        return .couch(
          try await store.write(needing: .design, creating: false) {
            try await $0.deleteIndexes(body)
          })
      },
      databases.route(.delete, "/_index/{design}/{type}/{name}", Self.deleteIndex),
      databases.route(.delete, "/_index/_design/{design}/{type}/{name}", Self.deleteIndex),
    ] + functions
  }

  /// The functions of design documents, which CouchDB runs and this service does not. It only stores them. A document's id
  /// may have slashes there, and a list's view may be another design document's.
  private var functions: [Route] {
    [function(.post, .views, "/_view/{function}/queries")]
      + [.get, .post].flatMap { method in
        [
          function(method, .views, "/_view/{function}"),
          function(method, .shows, "/_show/{function}"),
          function(method, .shows, "/_show/{function}/{docid}").takingRest,
          function(method, .lists, "/_list/{function}/{view}").takingRest,
        ]
      }
      + [.post, .put].flatMap { method in
        [
          function(method, .updates, "/_update/{function}"),
          function(method, .updates, "/_update/{function}/{docid}").takingRest,
        ]
      }
  }

  private func function(
    _ method: HTTPRequest.Method, _ kind: DesignFunction.Kind, _ path: String
  ) -> Route {
    databases.route(method, "/_design/{design}" + path) { call, store in
      let function = try DesignFunction(
        kind, try call.parameter("function"), in: try call.parameter("design"))
      return try await store.read { try await $0.run(function) }
    }
  }

  /// Deletes an index. The design document's name may have its prefix, whose slash may be percent-encoded.
  private static func deleteIndex(_ call: Call, _ store: CouchStore) async throws -> Response {
    let design = try call.parameter("design")
    let (type, name) = (try call.parameter("type"), try call.parameter("name"))
    return .couch(
      try await store.write(needing: .design, creating: false) {
        try await $0.deleteIndex(design: design, type: type, name: name)
      })
  }
}
