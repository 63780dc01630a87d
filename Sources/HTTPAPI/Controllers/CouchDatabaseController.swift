import CouchSync
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// A database as a whole.
///
/// Source: CouchDB, "API reference: databases".
struct CouchDatabaseController: Sendable {
  let databases: CouchDatabaseAccess
  let address: ServerAddress
  /// The files of long bodies.
  let bodyFiles: BodyFiles

  var routes: [Route] {
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
        if case .short(var request) = body, store.replications != nil {
          try await request.change { try await store.sealed($0) }
          body = .short(request)
        }
        let answer = try await store.write { [body] database in
          switch body {
          case .short(let request): try await database.bulkDocuments(request)
          case .long(let request):
            try await database.bulkDocuments(request) { [channel = call.context.channel] in
              channel.triggerUserOutboundEvent(RequestProgressed(), promise: nil)
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
}
