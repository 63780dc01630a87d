import Accounts
import CouchSync
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// A complete offline copy in one request.
struct MirrorController: Sendable {
  let hotels: HotelService
  let databases: CouchDatabaseAccess

  var routes: [Route] {
    [
      Route(.get, "/v1/mirror", access: .person) { call, person in
        try await mirror(call, of: databases.own(of: person, as: call.writeContext))
      }
    ]
  }

  /// Answers the copy of a store.
  func mirror(_ call: Call, of store: CouchStore) async throws -> Response {
    let query = try call.query("since")
    let since = try query.value(
      "since", or: .invalidParameter("since must be the token of an earlier answer")
    ) { MirrorToken($0) }
    guard let page = try await hotels.mirror(of: store.name, since: since) else {
      throw Problem(
        .gone, "resync_required",
        "This copy can't be brought up to date: forget it and ask without since")
    }
    if let since { await note(since, in: store, call) }
    var fields = HTTPFields.tagged(page.token.description)
    fields[.vary] = "Accept-Encoding"
    if let answer = try call.notModified(page.token.description, fields) { return answer }
    return try await .packed(page.json, headers: fields, for: call)
  }

  /// Notes for the delivery ledger that a copy has all changes up to a position. Nothing is noted of guests, who have one
  /// device, unless it names itself; and nothing if there is no room for it.
  private func note(_ position: MirrorToken, in store: CouchStore, _ call: Call) async {
    let name = call.device?.name
    guard let device = name ?? store.caller.tokenID, name != nil || store.caller.kind == .user
    else { return }
    // Members of a list may call their devices the same.
    let copy = "\(store.caller.id.text) \(device)"
    try? await store.write(creating: false) { database in
      try await database.noteMirror(of: copy, at: position.sequence)
    }
  }
}
