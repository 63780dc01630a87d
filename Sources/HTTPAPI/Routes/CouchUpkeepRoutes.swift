import CouchSync
import Documents
import HTTPTypes
import Hummingbird

/// Who may use a database, and keeping it small.
///
/// Source: CouchDB, "API reference: databases": "security", "compact", "purge", "revs_limit".
extension HTTPService {
  /// `_security`, `_purge`, `_compact`, `_view_cleanup`, `_revs_limit`, `_purged_infos_limit`.
  var couchUpkeepRoutes: [Route] {
    [
      couch(.get, "/_security") { _, store in
        .couch(
          try await store.reading { database throws(CouchError) in try await database.security() })
      },
      couch(.put, "/_security") { call, store in
        try await store.require(.secure)
        let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
        let security = try SecurityDocument(try CouchBody.parse(bytes, limits: .small))
        return .couch(
          try await store.writing(needing: .secure) { database throws(CouchError) in
            try await database.setSecurity(security)
          })
      },
      couch(.post, "/_purge") { call, store in
        try await store.require(.purge)
        let request = try PurgeRequest(try await call.couchObject())
        return .couch(
          try await store.writing(needing: .purge) { database throws(CouchError) in
            try await database.purge(request)
          })
      },
      couch(.post, "/_compact") { _, store in try await Self.compact(store) },
      couch(.post, "/_compact/{design}") { call, store in
        let design = try DocumentID("_design/" + call.parameter("design"))
        _ = try await store.reading(needing: .compact) { database throws(CouchError) in
          try await database.document(design)
        }
        // Indexes that no definition names any more go with their definitions.
        return .couchDone(.accepted)
      },
      couch(.post, "/_view_cleanup") { _, store in
        try await store.require(.compact)
        return .couchDone(.accepted)
      },
      couch(.get, "/_revs_limit") { _, store in
        .couch(
          try await store.reading { database throws(CouchError) in
            try await database.revisionsLimit()
          })
      },
      couch(.put, "/_revs_limit") { call, store in
        try await store.require(.purge)
        let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
        let limit = try CouchBody.parse(bytes, limits: .small)
        return .couch(
          try await store.writing(needing: .purge) { database throws(CouchError) in
            try await database.setRevisionsLimit(limit)
          })
      },
      couch(.get, "/_purged_infos_limit") { _, _ in throw noPurgedInfos },
      couch(.put, "/_purged_infos_limit") { _, _ in throw noPurgedInfos },
    ]
  }

  private static func compact(_ store: CouchStore) async throws -> Response {
    .couch(
      try await store.reading(needing: .compact) { database throws(CouchError) in
        try await database.compact()
      })
  }

  private var noPurgedInfos: CouchError {
    CouchError(501, "not_implemented", "No list of purges is kept that could have a limit")
  }
}
