import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Logging

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
        let parameters = try call.couchParameters()
        let body = try await call.couchPosted(store.documentLimits)
        let answer = try await store.writing { database throws(CouchError) in
          try await database.post(body)
        }
        return written(answer, parameters, call)
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
        let request = try await call.couchBulk(store.documentLimits)
        let answer = try await store.writing { database throws(CouchError) in
          try await database.bulkDocuments(request)
        }
        warn(of: answer, call)
        return .couch(answer)
      },
      couch(.post, "/_ensure_full_commit") { _, _ in .couch(CouchDatabase.fullCommit) },
    ]
  }

  /// The answer to a document that was written. To `batch=ok` CouchDB gives no revision, which it may not know yet;
  /// here it is written all the same.
  func written(
    _ answer: CouchAnswer, _ parameters: CouchParameters, _ call: Call
  ) -> Response {
    guard parameters["batch"] == "ok", let id = answer.written else {
      return .couch(answer, location: location(of: answer, call))
    }
    return .json(.accepted, headers: Response.couchFields) { writer in
      writer.member("ok", true)
      writer.member("id", id.text)
    }
  }

  /// Tells the operator of rules that guard nothing here.
  func warn(of answer: CouchAnswer, _ call: Call) {
    guard answer.hasUnrunRules else { return }
    call.context.logger.warning(
      "a peer's design document has validate_doc_update, which is stored and not run")
  }

  /// The URL of a document that was written, unless it was removed.
  func location(of answer: CouchAnswer, _ call: Call) -> String? {
    guard answer.status == 201 else { return nil }
    return answer.written.map { id in
      let database = call.arguments["db"] ?? ""
      // The slash after `_design` and `_local` is one.
      let text = id.text.utf8
      let prefix = id.isDesign ? text.prefix { $0 != UInt8(ascii: "/") }.count + 1 : 0
      return address(of: call) + "/couch/\(database)/" + String(Substring(text.prefix(prefix)))
        + String(Substring(text.dropFirst(prefix))).urlSegment
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
