import Accounts
import CouchSync
import HTTPTypes
import Hotels
import Hummingbird
import LiteSync
import Scheduling
import Stores

/// Couchbase Lite's sync, over a WebSocket.
struct LiteController: Sendable {
  let databases: CouchDatabaseAccess
  let authentication: Authentication
  /// The long answers, among which a session counts.
  let feeds: Feeds

  var routes: [Route] {
    [
      Route(.get, "/couch/{db}/_blipsync", access: .signedIn, changes: .data) { call, caller in
        try await open(call, caller)
      }
    ]
  }

  private func open(_ call: Call, _ caller: Principal) async throws -> Response {
    try authentication.checkOriginOfUpgrade(call)
    var store = try await databases.store(call.parameter("db"), for: caller, as: call.writeContext)
    // Its answers are not built in one piece.
    store.reservation = nil
    try await store.require(.use)
    let handshake = try WebSocketHandshake(call)
    guard let (name, form) = LiteProtocol.choose(among: handshake.protocols) else {
      throw Problem.badRequest("Offer the protocol BLIP_3+CBMobile_3, _2 or _4")
    }
    let session = LiteSession(
      in: form, ofVersion2: LiteProtocol.isSecond(name),
      merges: { [name = store.name] in BookmarkMerge.merges($0, in: name) },
      status: { ErrorTable.row($0, in: .couch).status })
    let connection = LiteConnection(
      session, with: store, as: caller, authentication: authentication,
      reservation: call.context.reservation)
    return try feeds.response(connection, to: call, from: store, handshake.fields(name))
  }
}

/// A session of Couchbase Lite has the rights of `/couch`, which each operation looks up again.
extension CouchStore: LiteStore {
  func discard(_ uploads: [AttachmentUpload]) async {
    let begun = uploads.filter(\.isBegun)
    guard !begun.isEmpty else { return }
    // A task of its own, because the session may have ended.
    let discarding = Work.shared {
      for upload in begun {
        try? await write(creating: false) { database in await database.discard(upload) }
      }
    }
    await Work.waiting { await discarding.value }
  }

  func read<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    try await read(needing: .use, use)
  }

  func write<Value>(_ use: (CouchDatabase) async throws -> Value) async throws -> Value {
    try await write(needing: .use, use)
  }
}
