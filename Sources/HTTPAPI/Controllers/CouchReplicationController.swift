import CouchSync
import Documents
import HTTPTypes
import Hummingbird

/// The operations that replicators use.
///
/// Source: CouchDB, "Replication protocol".
struct CouchReplicationController: Sendable {
  let databases: CouchDatabaseAccess
  /// The long answers.
  let feeds: Feeds

  var routes: [Route] {
    [
      databases.route(.post, "/_bulk_get") { call, store in
        var (form, type) = (OpenRevisions.Form.json, "application/json")
        if !call.accepts("application/json"),
          let kind = ["mixed", "related"].first(where: { call.accepts("multipart/\($0)") })
        {
          (form, type) = OpenRevisions.Form.parts(of: kind)
        }
        let request = try await BulkGetRequest(
          try await call.couchObject(), try call.couchParameters(), as: form)
        return try feeds.response(
          try await store.read { database in try await database.bulkGet(request) }, call, store,
          type: type)
      },
      databases.route(.post, "/_revs_diff") { call, store in
        let request = try await RevisionsRequest(call.couchObject())
        return .couch(try await store.read { try await $0.revisionsDifference(request) })
      },
      databases.route(.post, "/_missing_revs") { call, store in
        let request = try await RevisionsRequest(call.couchObject())
        return .couch(try await store.read { try await $0.missingRevisions(request) })
      },
      databases.route(.get, "/_changes") { call, store in
        try await changes(call, body: nil, store)
      },
      databases.route(.post, "/_changes") { call, store in
        try await changes(call, body: try await call.couchObjectIfAny(), store)
      },
    ]
  }

  /// Reads the first page before the answer begins, so that an early error still gets its status.
  private func changes(
    _ call: Call, body: JSONNode?, _ store: CouchStore
  ) async throws -> Response {
    let parameters = try call.couchParameters()
    let feed = try CouchFeed(parameters)
    var query = try await ChangesQuery(
      parameters, body: body, lastEvent: feed.kind == .eventsource ? call[.lastEventID] : nil
    ).prepared()
    query.frame = feed.frame
    let page = try await store.read { [query] database in try await database.changes(query) }
    if feed.isAnswered(by: page, query) { return .couch(page.answer) }
    return try feeds.response(
      CouchChanges(of: store, in: feed, query, first: page), to: call, from: store,
      waits: feed.kind != .normal,
      [.contentType: feed.contentType, .cacheControl: feed.cacheControl])
  }
}
