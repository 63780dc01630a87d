import CouchQuery
import CouchSync
import HTTPTypes
import Hummingbird

/// Mango: queries by a selector, and their indexes.
///
/// Source: CouchDB, "POST /{db}/_find", "/{db}/_index", "POST /{db}/_explain".
extension HTTPService {
  /// `_find`, `_explain`, `_index`.
  var couchQueryRoutes: [Route] {
    [
      couch(.post, "/_find") { call, store in
        let request = try FindRequest(try await call.couchObject())
        return .couch(
          try await store.reading { database in
            try await database.find(request)
          })
      },
      couch(.post, "/_explain") { call, store in
        let request = try FindRequest(try await call.couchObject())
        return .couch(
          try await store.reading { database in
            try await database.explain(request)
          })
      },
      couch(.get, "/_index") { call, store in
        let parameters = try call.couchParameters()
        return .couch(
          try await store.reading { database in
            try await database.queryIndexes(parameters)
          })
      },
      couch(.post, "/_index") { call, store in
        let request = try IndexRequest(try await call.couchObject())
        return .couch(
          try await store.writing(needing: .design) { database in
            try await database.createIndex(request)
          })
      },
      couch(.post, "/_index/_bulk_delete") { call, store in
        let body = try await call.couchObject()
        return .couch(
          try await store.writing(needing: .design, creating: false) { database in
            try await database.deleteIndexes(body)
          })
      },
      couch(.delete, "/_index/{design}/{type}/{name}") { call, store in
        try await Self.deleteIndex(call, store)
      },
      couch(.delete, "/_index/_design/{design}/{type}/{name}") { call, store in
        try await Self.deleteIndex(call, store)
      },
    ] + couchListRoutes
  }

  /// `_design_docs`, `_local_docs`, and several queries in one request.
  private var couchListRoutes: [Route] {
    [
      couch(.get, "/_local_docs") { call, store in
        try await allDocuments(
          AllDocumentsQuery(try call.couchParameters(), scope: .locals), call, store)
      },
      couch(.post, "/_local_docs") { call, store in
        let body = try await call.couchObject()
        return try await allDocuments(
          AllDocumentsQuery(try call.couchParameters(), body: body, scope: .locals), call, store)
      },
      couch(.get, "/_design_docs") { call, store in
        try await allDocuments(
          AllDocumentsQuery(try call.couchParameters(), scope: .designs), call, store)
      },
      couch(.post, "/_design_docs") { call, store in
        let body = try await call.couchObject()
        return try await allDocuments(
          AllDocumentsQuery(try call.couchParameters(), body: body, scope: .designs), call, store)
      },
      couch(.post, "/_all_docs/queries") { call, store in
        try await queries(.everything, call, store)
      },
      couch(.post, "/_design_docs/queries") { call, store in
        try await queries(.designs, call, store)
      },
    ]
  }

  private func queries(
    _ scope: AllDocumentsQuery.Scope, _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    let queries = try AllDocumentsQuery.list(try await call.couchObject(), scope: scope)
    return try await couchResponse(
      try await store.reading { database in try await database.allDocuments(queries) }, call, store)
  }

  /// Deletes an index. The design document's name may have its prefix, whose slash may be percent-encoded.
  private static func deleteIndex(_ call: Call, _ store: CouchStore) async throws -> Response {
    let design = try call.parameter("design")
    let (type, name) = (try call.parameter("type"), try call.parameter("name"))
    return .couch(
      try await store.writing(needing: .design, creating: false) { database in
        try await database.deleteIndex(design: design, type: type, name: name)
      })
  }
}
