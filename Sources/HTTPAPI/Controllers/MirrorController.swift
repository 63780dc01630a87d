import Accounts
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// A complete offline copy in one request.
struct MirrorController: Sendable {
  let hotels: HotelService

  var routes: [Route] {
    [
      Route(.get, "/v1/mirror", access: .person) { call, person in
        try await mirror(call, of: person.store)
      }
    ]
  }

  /// Answers the copy of a store.
  func mirror(_ call: Call, of store: StoreName) async throws -> Response {
    let query = try call.query("since")
    var since: MirrorToken?
    if let text = query["since"] {
      guard let token = MirrorToken(text) else {
        throw Problem(
          .badRequest, "invalid_parameter", "since must be the token of an earlier answer")
      }
      since = token
    }
    guard let page = try await hotels.mirror(of: store, since: since) else {
      throw Problem(
        .gone, "resync_required",
        "This copy can't be brought up to date: forget it and ask without since")
    }
    var fields = HTTPFields.tagged(page.token.description)
    fields[.vary] = "Accept-Encoding"
    if let known = try EntityTags(call, .ifNoneMatch, strong: false),
      known.matches(page.token.description)
    {
      return .empty(.notModified, headers: fields)
    }
    return try await .packed(page.json, headers: fields, for: call)
  }
}
