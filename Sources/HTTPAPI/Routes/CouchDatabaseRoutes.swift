import CouchSync
import Documents
import HTTPTypes
import Hummingbird

/// A database as a whole.
///
/// Source: CouchDB, "API reference: databases".
extension HTTPService {
  /// `/couch/{db}` and what reads or writes many documents.
  var couchDatabaseRoutes: [Route] {
    [
      couch(.get, "") { _, store in
        .couch(try await store.reading { database throws(CouchError) in try await database.info() })
      },
      couch(.put, "") { call, store in
        try await store.make()
        var fields = Response.couchFields
        fields[.location] = "/couch/" + store.owner.storeName
        return .couchDone(.created, headers: fields)
      },
      couch(.delete, "") { _, _ in throw CouchProblem.notAdministrator },
      couch(.post, "") { call, store in
        let body = try await call.couchObject()
        return .couch(
          try await store.writing { database throws(CouchError) in try await database.post(body) })
      },
      couch(.get, "/_all_docs") { call, store in
        try await Self.allDocuments(AllDocumentsQuery(try call.couchParameters()), store)
      },
      couch(.post, "/_all_docs") { call, store in
        let body = try await call.couchObject()
        return try await Self.allDocuments(
          AllDocumentsQuery(try call.couchParameters(), body: body), store)
      },
      couch(.post, "/_bulk_docs") { call, store in
        let request = try BulkRequest(try await call.couchObject())
        return .couch(
          try await store.writing { database throws(CouchError) in
            try await database.bulkDocuments(request)
          })
      },
      couch(.post, "/_ensure_full_commit") { _, _ in .couch(CouchDatabase.fullCommit) },
      couch(.get, "/_security") { _, _ in .couch(CouchDatabase.security) },
      couch(.get, "/_revs_limit") { _, store in
        .couch(
          try await store.reading { database throws(CouchError) in database.revisionLimit })
      },
    ]
  }

  private static func allDocuments(
    _ query: AllDocumentsQuery, _ store: CouchStore
  ) async throws -> Response {
    .couch(
      try await store.reading { database throws(CouchError) in
        try await database.allDocuments(query)
      })
  }
}
