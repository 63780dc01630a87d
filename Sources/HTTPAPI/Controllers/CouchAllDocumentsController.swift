import CouchSync
import HTTPTypes
import Hummingbird

/// The lists of a database's documents: all, design documents or local ones, and several queries in one request.
///
/// Source: CouchDB, "API reference: bulk document operations".
struct CouchAllDocumentsController: Sendable {
  let databases: CouchDatabaseAccess
  /// The long answers.
  let feeds: Feeds

  var routes: [Route] {
    let scopes: [(String, AllDocumentsQuery.Scope)] = [
      ("/_all_docs", .everything), ("/_local_docs", .locals), ("/_design_docs", .designs),
    ]
    return scopes.flatMap { path, scope in
      [
        databases.route(.get, path) { call, store in
          try await allDocuments(
            AllDocumentsQuery(try call.couchParameters(), scope: scope), call, store)
        },
        databases.route(.post, path) { call, store in
          let body = try await call.couchObject()
          return try await allDocuments(
            AllDocumentsQuery(try call.couchParameters(), body: body, scope: scope), call, store)
        },
      ]
    } + [
      databases.route(.post, "/_all_docs/queries") { call, store in
        try await queries(.everything, call, store)
      },
      databases.route(.post, "/_design_docs/queries") { call, store in
        try await queries(.designs, call, store)
      },
    ]
  }

  private func queries(
    _ scope: AllDocumentsQuery.Scope, _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    let queries = try AllDocumentsQuery.list(try await call.couchObject(), scope: scope)
    return try feeds.response(
      try await store.read { database in try await database.allDocuments(queries) }, call, store)
  }

  private func allDocuments(
    _ query: AllDocumentsQuery, _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    try feeds.response(
      try await store.read { database in try await database.allDocuments(query) }, call, store)
  }
}
