import CouchSync
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON

/// The operations that replicators use.
///
/// Source: CouchDB, "Replication protocol".
struct CouchReplicationController: Sendable {
  let databases: CouchDatabaseAccess
  /// The long answers.
  let feeds: CouchFeeds

  var routes: [Route] {
    [
      databases.route(.post, "/_bulk_get") { call, store in
        let request = try BulkGetRequest(
          try await call.couchObject(), try call.couchParameters())
        return try await feeds.response(
          try await store.read { database in try await database.bulkGet(request) }, call, store)
      },
      databases.route(.post, "/_revs_diff") { call, store in
        let request = try RevisionsRequest(try await call.couchObject())
        return .couch(
          try await store.read { database in
            try await database.revisionsDifference(request)
          })
      },
      databases.route(.post, "/_missing_revs") { call, store in
        let request = try RevisionsRequest(try await call.couchObject())
        return .couch(
          try await store.read { database in
            try await database.missingRevisions(request)
          })
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
    let query = try await ChangesQuery(
      parameters, body: body, lastEvent: feed.kind == .eventsource ? call[.lastEventID] : nil
    ).prepared()
    let page = try await store.read { database in
      try await database.changes(query)
    }
    if feed.isAnswered(by: page, query) { return .couch(page.answer) }
    let registration = try await feeds.add(
      CouchFeedReader(call, store, waits: feed.kind != .normal))
    // Captures the signal only. The channel may keep this closure longer than the answer, and the answer's end gives
    // the slot back.
    DisconnectHandler.onDisconnect(of: call.context.channel) { [signal = registration.signal] in
      signal.end(.clientLeft)
    }
    let stream = CouchChangesStream(
      store: store, feed: feed, registration: registration, query: query,
      firstPage: .init(page))
    return Response(
      status: .ok,
      headers: [
        .contentType: feed.contentType, .cacheControl: feed.cacheControl, .accelBuffering: "no",
      ],
      body: ResponseBody { writer in try await stream.write(to: &writer) })
  }
}
