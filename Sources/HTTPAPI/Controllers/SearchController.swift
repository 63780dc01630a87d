import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// Search for hotels through the upstream, and one hotel.
struct SearchController: Sendable {
  /// The upstream.
  let search: any HotelSearching
  /// Searches a person's own bookmarks when the upstream does not answer.
  let mirrorSearch: any MirrorSearching
  let hotels: HotelService
  /// Updates the facts in bookmarks.
  let refresher: FactsRefresher

  var routes: [Route] {
    [
      Route(.get, "/v1/hotels", access: .anyone, run: searchHotels),
      Route(.get, "/v1/hotels/{hotelID}", access: .anyone, run: hotel),
      Route(.get, "/v1/places", access: .anyone, run: places),
    ]
  }

  private func searchHotels(_ call: Call, _ person: Principal?) async throws -> Response {
    let query = try call.query("description", "location", "sort", "near", "limit", "offset")
    let (order, near) = try Self.order(query)
    let wanted = HotelQuery(
      description: try query.text("description", maximumBytes: HotelQuery.maximumTextBytes),
      location: try query.text("location", maximumBytes: HotelQuery.maximumTextBytes),
      order: order, near: near,
      limit: try query.int(
        "limit", in: 1...HotelQuery.maximumLimit, default: HotelQuery.defaultLimit),
      offset: try query.int("offset", in: 0...HotelQuery.maximumOffset, default: 0))
    try wanted.checkWords()
    guard search.orders.contains(order) else {
      throw Problem(
        .badRequest, "not_supported_by_upstream",
        "the hotels of this server's upstream can't be sorted by \(order.rawValue); leave sort out")
    }
    let page = try await page(wanted, for: person)
    let bookmarked = try await bookmarked(page.hotels.map(\.id), by: person)
    if let person, page.source == .upstream || page.source == .cache {
      refresher.refresh(page.hotels.filter { bookmarked.contains($0.id) }, in: person.store)
    }
    let bytes = try JSONWriter.object { writer in
      writer.member("source", page.source.rawValue)
      if let total = page.total { writer.member("total", total) }
      if page.hasMostOnly { writer.member("matched", "most") }
      try writer.array("hotels", of: page.hotels) { hotel, writer in
        writer.raw(try HotelJSON.bytes(hotel, isBookmarked: bookmarked.contains(hotel.id)))
      }
      if let next = page.next { writer.member("next", next) }
    }
    return try await .packed(bytes, headers: page.freshness, for: call)
  }

  /// What one can search for: the places of the hotels.
  private func places(_ call: Call, _ person: Principal?) async throws -> Response {
    let query = try call.query("prefix", "limit")
    let page = try await search.places(
      beginning: try query.text("prefix", maximumBytes: PlacePage.maximumPrefixBytes) ?? "",
      limit: try query.int(
        "limit", in: 1...PlacePage.maximumLimit, default: PlacePage.defaultLimit))
    return .json { writer in
      writer.objects("places", of: page.places) { place, writer in
        writer.member("kind", place.kind.rawValue)
        writer.member("name", place.name)
        if !place.state.isEmpty { writer.member("state", place.state) }
        if !place.country.isEmpty { writer.member("country", place.country) }
        writer.member("hotels", place.hotels)
      }
      let orders = HotelQuery.Order.allCases.filter { page.orders.contains($0) }
      writer.array("sorts", of: orders) { $1.string($0.rawValue) }
    }
  }

  /// The order that a query names. With `near` but without `sort` it is by distance.
  /// - Throws: 400 for an unknown order, for an invalid `near`, and for an order by distance without `near`.
  private static func order(_ query: QueryParameters) throws(Problem) -> (
    HotelQuery.Order, GeoPoint?
  ) {
    let near = try query.text("near", maximumBytes: 64).map { text throws(Problem) in
      guard let point = GeoPoint(text) else {
        throw Problem.invalidParameter(
          "near must be latitude,longitude in degrees, as in near=51.5,-0.12")
      }
      return point
    }
    guard let name = try query.text("sort", maximumBytes: 64) else {
      return (near == nil ? .relevance : .distance, near)
    }
    guard let order = HotelQuery.Order(rawValue: name) else {
      throw Problem.invalidParameter("sort must be relevance, name, price or distance")
    }
    guard order != .distance || near != nil else {
      throw Problem.invalidParameter("sort=distance needs near, as in near=51.5,-0.12")
    }
    return (order, near)
  }

  /// The answer of the upstream or of its cache. If both fail, the person's own bookmarks are searched. If these don't
  /// match either, the error of the upstream is thrown, because they are no complete answer.
  private func page(_ query: HotelQuery, for person: Principal?) async throws -> HotelPage {
    do throws(SearchError) {
      return try await search.search(query)
    } catch {
      guard let person, person.kind != .administrator else { throw error }
      let own = try await hotels.allBookmarks(in: person.store)
      guard !own.isEmpty, let page = try? await mirrorSearch.search(query, among: own),
        !page.hotels.isEmpty || query.offset > 0
      else { throw error }
      return page
    }
  }

  /// Answers with the person's own copy first, because it is available without the upstream.
  private func hotel(_ call: Call, _ person: Principal?) async throws -> Response {
    guard let id = HotelID(try call.parameter("hotelID")) else { throw Problem.notFound }
    if let person, person.kind != .administrator,
      let bookmark = try await hotels.bookmark(id, in: person.store)
    {
      return .json(try HotelJSON.bytes(id: id, body: bookmark.hotel, isBookmarked: true))
    }
    guard let hotel = try await search.hotel(id) else { throw Problem.notFound }
    return .json(try HotelJSON.bytes(hotel, isBookmarked: false))
  }

  private func bookmarked(_ ids: [HotelID], by person: Principal?) async throws -> Set<HotelID> {
    guard let person, person.kind != .administrator, !ids.isEmpty else { return [] }
    return try await hotels.bookmarked(among: ids, in: person.store)
  }
}

extension HotelQuery {
  /// - Throws: 400 for a query with more different words than a search looks up.
  func checkWords() throws(Problem) {
    guard wordCount <= Self.maximumWords else {
      throw Problem.invalidParameter(
        "description and location have more than \(Self.maximumWords) different words")
    }
  }
}

extension HotelPage {
  /// The fields for an answer's age and for its use of the cache (RFC 9111, section 5.1; RFC 9211).
  var freshness: HTTPFields {
    var fields: HTTPFields = [:]
    if let age { fields[.age] = String(age) }
    if let cacheNote { fields[.cacheStatus] = "hotel-bookmarks; " + cacheNote }
    return fields
  }
}

/// A hotel in the form of `/v1`: its own members unchanged, and `id` and `bookmarked` from this service.
enum HotelJSON {
  static func bytes(_ hotel: Hotel, isBookmarked: Bool) throws -> [UInt8] {
    try bytes(id: hotel.id, body: hotel.body.bytes, isBookmarked: isBookmarked)
  }

  static func bytes(id: HotelID, body: [UInt8], isBookmarked: Bool) throws -> [UInt8] {
    guard let outline = JSONOutline(body, in: body.indices), outline.isObject else {
      throw ServiceError(.integrity, "A hotel can't be read")
    }
    return JSONWriter.object(reserving: body.count + 64) { writer in
      writer.member("id", id.text)
      for part in outline.parts {
        guard let name = part.name else { continue }
        let member = body[name.lowerBound..<part.value.upperBound]
        guard !body[name].contains(UInt8(ascii: "\\")) else {
          append(member, of: body[name], raw: body[part.value], to: &writer)
          continue
        }
        if !ours.contains(where: { body[name].elementsEqual($0.utf8) }) {
          writer.members(raw: member)
        }
      }
      writer.member("bookmarked", isBookmarked)
    }
  }

  /// The names, in quotation marks, of the members whose value comes from this service.
  private static let ours = [#""id""#, #""bookmarked""#]

  /// Appends a member whose name contains escapes.
  private static func append(
    _ member: ArraySlice<UInt8>, of name: ArraySlice<UInt8>, raw value: ArraySlice<UInt8>,
    to writer: inout JSONWriter
  ) {
    guard let text = try? ParsedJSON(Array(name), limits: .small).root.string else {
      return writer.members(raw: member)
    }
    guard !ours.contains(where: { $0.equalsBytes(of: "\"\(text)\"") }) else { return }
    writer.member(text, raw: Array(value))
  }
}
