import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// Rights on a database, and its compaction.
///
/// Source: CouchDB, "API reference: databases": "security", "compact", "purge", "revs_limit".
struct CouchMaintenanceController: Sendable {
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [
      databases.route(.get, "/_security") { _, store in
        .couch(try await store.read { try await $0.security() })
      },
      databases.route(.put, "/_security") { call, store in
        try await store.require(.secure)
        let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
        let security = try SecurityDocument(try CouchBody.parse(bytes, limits: .small))
        let answer = try await store.write(needing: .secure) { try await $0.setSecurity(security) }
        store.stores.subscriptions.checkRights(in: store.name)
        store.accounts.audit.note(
          AuditEvent(.databaseAccessChanged, by: store.caller.author, about: store.database))
        return .couch(answer)
      },
      databases.route(.post, "/_purge") { call, store in
        try await store.require(.purge)
        let request = try PurgeRequest(try await call.couchObject())
        return .couch(try await store.write(needing: .purge) { try await $0.purge(request) })
      },
      databases.route(.post, "/_compact") { _, store in
        .couch(try await store.write(needing: .compact, creating: false) { try await $0.compact() })
      },
      databases.route(.post, "/_compact/{design}") { call, store in
        let design = try DocumentID("_design/" + call.parameter("design"))
        _ = try await store.read(needing: .compact) { try await $0.document(design) }
        // An index without a definition is removed together with the definition, so nothing remains to do.
        return .couchDone(.accepted)
      },
      databases.route(.post, "/_view_cleanup") { _, store in
        try await store.require(.compact)
        return .couchDone(.accepted)
      },
      databases.route(.get, "/_revs_limit") { _, store in
        .couch(try await store.read { try await $0.revisionsLimit() })
      },
      databases.route(.put, "/_revs_limit") { call, store in
        try await store.require(.purge)
        let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
        let limit = try CouchBody.parse(bytes, limits: .small)
        return .couch(
          try await store.write(needing: .purge) { try await $0.setRevisionsLimit(limit) })
      },
    ]
      + [.get, .put].map { method in
        databases.route(method, "/_purged_infos_limit") { _, _ in
          throw ServiceError.notOffered("A limit of the list of purges is")
        }
      }
  }
}
