import CouchSync
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// A database as a whole, and the lists of its documents: all, design documents or local ones, and several queries in one
/// request.
///
/// Source: CouchDB, "API reference: databases" and "bulk document operations".
struct CouchDatabaseController: Sendable {
  let databases: CouchDatabaseAccess
  let address: ServerAddress
  /// The files of long bodies.
  let bodyFiles: BodyFiles
  /// The long answers.
  let feeds: Feeds

  var routes: [Route] { database + documents }

  private var database: [Route] {
    [
      databases.route(.get, "") { _, store in
        .couch(try await store.read { database in try await database.info() })
      },
      databases.route(.post, "") { call, store in
        let parameters = try call.couchParameters()
        let body = try await store.sealed(try await call.couchPosted(store.documentLimits))
        let answer = try await store.write { try await $0.post(body) }
        return .couchWritten(answer, parameters, call, at: address.couchURL(for: call))
      },
      databases.route(.post, "/_bulk_docs") { call, store in
        var body = try await call.couchBulk(
          store.documentLimits, stored: store.storedBytes, bodyFiles)
        if store.replications != nil {
          body = try await body.changed { try await store.sealed($0, isNewEdit: $1) }
        }
        let answer = try await store.write { [body] database in
          switch body {
          case .short(let request): try await database.bulkDocuments(request)
          case .long(let request):
            try await database.bulkDocuments(request) { [channel = call.context.channel] in
              channel.triggerUserOutboundEvent(RequestEvent.progressed, promise: nil)
            }
          }
        }
        answer.warnOfUnrunRules(call)
        return .couch(answer)
      },
      databases.route(.post, "/_ensure_full_commit") { _, store in
        .couch(try await store.read { try await $0.fullCommit() })
      },
    ]
  }

  private var documents: [Route] {
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
        databases.route(.post, path + "/queries") { call, store in
          let queries = try AllDocumentsQuery.list(try await call.couchObject(), scope: scope)
          return try feeds.response(
            try await store.read { try await $0.allDocuments(queries) }, call, store)
        },
      ]
    }
  }

  private func allDocuments(
    _ query: AllDocumentsQuery, _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    try feeds.response(
      try await store.read { database in try await database.allDocuments(query) }, call, store)
  }
}
