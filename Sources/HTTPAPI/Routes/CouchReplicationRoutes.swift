import CouchSync
import Documents
import HTTPTypes
import Hummingbird

/// What replicators ask of a database.
///
/// Source: CouchDB, "Replication protocol".
extension HTTPService {
  /// `_bulk_get`, `_revs_diff`, `_missing_revs`, `_changes`.
  var couchReplicationRoutes: [Route] {
    [
      couch(.post, "/_bulk_get") { call, store in
        let request = try BulkGetRequest(
          try await call.couchObject(), try call.couchParameters())
        return .couch(
          try await store.reading { database throws(CouchError) in
            try await database.bulkGet(request)
          })
      },
      couch(.post, "/_revs_diff") { call, store in
        let request = try RevisionsRequest(try await call.couchObject())
        return .couch(
          try await store.reading { database throws(CouchError) in
            try await database.revisionsDifference(request)
          })
      },
      couch(.post, "/_missing_revs") { call, store in
        let request = try RevisionsRequest(try await call.couchObject())
        return .couch(
          try await store.reading { database throws(CouchError) in
            try await database.missingRevisions(request)
          })
      },
      couch(.get, "/_changes") { call, store in
        let parameters = try call.couchParameters()
        return try await changes(ChangesQuery(parameters), CouchFeed(parameters), store)
      },
      couch(.post, "/_changes") { call, store in
        let parameters = try call.couchParameters()
        let body = try await call.couchObject()
        return try await changes(
          ChangesQuery(parameters, body: body), CouchFeed(parameters), store)
      },
    ]
  }

  /// The first page is read before the answer begins, so that what fails is a status still.
  private func changes(
    _ query: ChangesQuery, _ feed: CouchFeed, _ store: CouchStore
  ) async throws -> Response {
    let page = try await store.reading { database throws(CouchError) in
      try await database.changes(query)
    }
    if feed.isAnswered(by: page, query) { return .couch(page.answer) }
    let stream = CouchChangesStream(
      store: store, accounts: accounts, feed: feed, query: query, page: page)
    if feed.kind != .normal { try await stream.checkReaders() }
    var fields = Response.couchFields
    fields[.contentType] = feed.contentType
    return Response(
      status: .ok, headers: fields,
      body: ResponseBody { writer in try await stream.write(to: &writer) })
  }
}
