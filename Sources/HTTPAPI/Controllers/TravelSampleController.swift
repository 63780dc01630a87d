import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird

/// The routes of both generations of the travel-sample back end, so that its apps run unmodified.
///
/// Source: couchbaselabs/try-cb-python and try-cb-frontend-v2, branches `mobile-travel-sample-tutorial`, `7.0` and `7.1`.
struct TravelSampleController: Sendable {
  let accounts: AccountService
  /// The upstream.
  let search: any HotelSearching

  var routes: [Route] {
    let others = Self.notOffered.map { method, path in
      Route(method, path, access: .open, cost: .free) { _, _ in throw Self.onlyHotels }
    }
    let routes: [Route] = [
      find("/api/hotel/{description}/{location}", firstGeneration),
      find("/api/hotel/{description}", firstGeneration),
      find("/api/hotels/{description}/{location}", secondGeneration),
      find("/api/hotels/{description}", secondGeneration),
      Route(.get, "/api/hotels", access: .open, cost: .free) { _, _ in Self.rejected },
      begin("/api/user/signup", signUp), begin("/api/tenants/{tenant}/user/signup", signUp),
      begin("/api/user/login", logIn), begin("/api/tenants/{tenant}/user/login", logIn),
    ]
    return (routes + others).speaking(.travel)
  }

  /// A route that finds hotels.
  private func find(
    _ template: String, _ run: @escaping @Sendable (Call) async throws -> Response
  ) -> Route { Route(.get, template, access: .open) { call, _ in try await run(call) } }

  /// A route that begins a session.
  private func begin(
    _ template: String, _ run: @escaping @Sendable (Call) async throws -> Response
  ) -> Route {
    Route(.post, template, access: .open, answer: .uncached) { call, _ in try await run(call) }
  }

  /// The other routes of that back end, which this server does not offer.
  private static let notOffered: [(HTTPRequest.Method, String)] = [
    (.get, "/api/airports"), (.get, "/api/flightPaths/{origin}/{destination}"),
    (.get, "/api/user/{username}/flights"), (.post, "/api/user/{username}/flights"),
    (.get, "/api/tenants/{tenant}/user/{username}/flights"),
    (.put, "/api/tenants/{tenant}/user/{username}/flights"),
  ]

  private static let onlyHotels = Problem(
    .notImplemented, "not_implemented",
    "Of the travel-sample's routes, hotels and users are offered; airports, flights and bookings are not"
  )

  /// Version 1: `{"data":[…]}` with seven fields for each hotel. Apps read the body as a dictionary of arrays, so it has
  /// no other member.
  private func firstGeneration(_ call: Call) async throws -> Response {
    let page = try await hotels(call)
    return try .json(headers: page.freshness) { writer in
      try writer.objects("data", of: page.hotels) { try Self.write($0, to: &$1) }
    }
  }

  /// Version 2: with the query's `context`. The hotel's id is added for apps that need it.
  private func secondGeneration(_ call: Call) async throws -> Response {
    let description = try call.parameter("description")
    let location = context(call, has: "location") ? try call.parameter("location") : "*"
    guard description != "*" || location != "*" else { return Self.rejected }
    let page = try await hotels(call)
    return try .json(headers: page.freshness) { writer in
      Self.context(Self.searchContext, to: &writer)
      try writer.objects("data", of: page.hotels) { hotel, writer in
        try Self.write(hotel, facts: ["name", "description"], to: &writer)
      }
      writer.member("source", page.source.rawValue)
    }
  }

  /// Writes a hotel's id, its address, and its other facts or those of `names`.
  private static func write(
    _ hotel: Hotel, facts names: Set<String>? = nil, to writer: inout JSONWriter
  ) throws {
    let row = try TravelHotel(hotel)
    writer.member("id", hotel.id.text)
    writer.member("address", row.fullAddress)
    for (name, value) in row.facts where names?.contains(name) ?? true {
      writer.member(name, value)
    }
  }

  /// The hotels that match; a segment `*` matches any.
  private func hotels(_ call: Call) async throws -> HotelPage {
    func text(_ name: String) throws(Problem) -> String? {
      guard context(call, has: name) else { return nil }
      let text = try call.parameter(name)
      guard text.utf8.count <= HotelQuery.maximumTextBytes else {
        throw Problem.invalidParameter(
          "\(name) must be at most \(HotelQuery.maximumTextBytes) bytes of UTF-8")
      }
      return text == "*" ? nil : text
    }
    let query = HotelQuery(
      description: try text("description"), location: try text("location"), matching: .phrase,
      limit: HotelQuery.maximumLimit)
    try query.checkWords()
    return try await search.search(query)
  }

  private func context(_ call: Call, has name: String) -> Bool { call.arguments[name] != nil }

  private static let searchContext =
    "FTS search - scoped to: inventory.hotel within fields address,city,state,country,name,description"

  private static let rejected = Response.json { writer in
    context("FTS search rejected - no search terms were provided", to: &writer)
    writer.array("data", of: [String]()) { $1.string($0) }
  }

  private static func context(_ text: String, to writer: inout JSONWriter) {
    writer.array("context", of: [text]) { $1.string($0) }
  }

  private func signUp(_ call: Call) async throws -> Response {
    let (name, sent, raw) = try await Self.credentials(call)
    let session = try await accounts.signUp(
      username: name, password: raw ?? sent, digest: raw == nil ? nil : sent, guest: nil,
      from: call.address)
    return try answer(.created, session, "KV insert - scoped to ", ": document ", call)
  }

  private func logIn(_ call: Call) async throws -> Response {
    let (name, password, _) = try await Self.credentials(call)
    let session = try await accounts.logIn(
      username: name, password: password, guestToken: nil, from: call.address)
    return try answer(
      .ok, session, "KV get - scoped to ", ": for password field in document ", call)
  }

  private func answer(
    _ status: HTTPResponse.Status, _ session: Session, _ before: String, _ between: String,
    _ call: Call
  ) throws -> Response {
    let scope = context(call, has: "tenant") ? try call.parameter("tenant") + ".users" : "users"
    return .json(status) { writer in
      Self.context(before + scope + between + (session.principal.username ?? ""), to: &writer)
      writer.object("data") { $0.member("token", session.token.token.exposed) }
    }
  }

  /// The web apps send a password's MD5 as `password`. At a sign-up that of the mobile tutorial also sends the password
  /// itself as `rawpassword`, with which the mobile app then syncs.
  private static func credentials(
    _ call: Call
  ) async throws -> (name: String, password: Secret, raw: Secret?) {
    let body = try await call.json(.small)
    guard let name = body["user"]?.string, let password = body["password"]?.string else {
      throw Problem.badRequest("The body needs user and password, both strings")
    }
    let raw = body["rawpassword"]
    guard raw == nil || raw?.string != nil else {
      throw Problem.badRequest("rawpassword must be a string")
    }
    return (name, Secret(password), raw?.string.map { Secret($0) })
  }
}

/// A hotel in the form of the travel-sample's routes.
struct TravelHotel {
  /// The address, city, state and country, as far as known, joined by ", ".
  let fullAddress: String
  /// City, country, description, name and state; null if unknown.
  let facts: [(name: String, value: JSONValue)]

  init(_ hotel: Hotel) throws {
    let parsed: ParsedJSON
    do { parsed = try ParsedJSON(hotel.body.bytes, limits: .document) } catch {
      throw DocumentError(error)
    }
    let root = parsed.root
    fullAddress = ["address", "city", "state", "country"].compactMap { root[$0]?.string }
      .filter { !$0.isEmpty }.joined(separator: ", ")
    facts = ["city", "country", "description", "name", "state"].map { name in
      (name, root[name]?.string.map { .string($0) } ?? .null)
    }
  }
}
