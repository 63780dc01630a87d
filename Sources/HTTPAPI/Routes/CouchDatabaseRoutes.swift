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
      couch(.post, "") { call, store in
        let body = try await call.couchObject()
        let answer = try await store.writing { database throws(CouchError) in
          try await database.post(body)
        }
        return .couch(answer, location: Self.location(of: answer, call))
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
    ]
  }

  /// The path of a document that was made, beside the database's own.
  static func location(of answer: CouchAnswer, _ call: Call) -> String? {
    answer.made.map { id in
      let database = call.arguments["db"] ?? ""
      let segments = id.isDesign ? id.text.utf8.dropFirst(8) : id.text.utf8[...]
      return "/couch/\(database)/" + (id.isDesign ? "_design/" : "")
        + String(decoding: segments, as: UTF8.self).urlSegment
    }
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
