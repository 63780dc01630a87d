import Documents
import Hotels
import JSON

/// How a search engine that takes queries as JSON over HTTP is asked, and how its answers read.
protocol QueryDialect: Sendable {
  /// What metrics and logs call an engine of this kind unless the configuration names it.
  static var kind: String { get }
  /// The path of a cheap request that says whether somebody is there.
  static var probePath: String { get }
  /// The path of a search, for an index whose name is encoded as one segment.
  func path(index: String) -> String
  /// The body of a search.
  func body(for query: HotelQuery) -> [UInt8]
  /// The body of a look-up by id.
  func body(for id: HotelID) -> [UInt8]
  /// The hotels of an answer, in its order, and whether there are more behind them.
  /// - Throws: ``SearchError`` for an answer that is none, or that not all of the engine has given.
  func page(_ root: JSONNode, for query: HotelQuery) throws(SearchError) -> HotelPage
}

/// The fields of a hotel that an engine is asked for and that are taken from its answers.
enum HotelFields {
  /// Where a text about the place is looked for.
  static let location = ["country", "city", "state", "address"]
  /// Where a text about the hotel is looked for.
  static let description = ["description", "name"]
  /// What is asked for: a search engine may hold more, which is nobody's business here.
  static let asked = [
    "name", "title", "address", "city", "state", "country", "description", "directions", "phone",
    "tollfree", "email", "fax", "url", "checkin", "checkout", "price", "vacancy", "alias",
    "free_breakfast", "free_internet", "free_parking", "pets_ok", "geo.lat", "geo.lon",
    "geo.accuracy",
  ]
}

/// The hotels of a search engine's hits, made of the asked fields only, each id once.
struct QueryRows {
  private var hotels: [Hotel] = []
  private var seen: Set<HotelID> = []
  private var count = 0

  /// Adds a hit; one without an id or fields that make a hotel is left out.
  /// - Parameter isFlat: whether a nested field's name is its path (`geo.lat`), as stored fields come.
  mutating func add(id: JSONNode?, fields: JSONNode?, isFlat: Bool) {
    count += 1
    guard let text = id?.string, let fields, fields.kind == .object,
      let id = HotelID(Hotel.canonical(text)),
      let body = Self.body(id, fields, isFlat: isFlat), seen.insert(id).inserted
    else { return }
    hotels.append(Hotel(id: id, body: body))
  }

  /// The page.
  /// - Parameter total: how many hotels the engine says match.
  /// - Throws: ``SearchError`` with code `badAnswer` when there are hits and no hotel among them.
  func page(for query: HotelQuery, total: Int) throws(SearchError) -> HotelPage {
    guard count == 0 || !hotels.isEmpty else {
      throw .badAnswer("none of \(count) hits is a hotel")
    }
    let end = query.offset + query.limit
    return HotelPage(
      hotels: Array(hotels.prefix(query.limit)),
      next: count >= query.limit && end < total && end <= HotelQuery.maximumOffset ? end : nil)
  }

  private static func body(_ id: HotelID, _ fields: JSONNode, isFlat: Bool) -> DocumentBody? {
    var writer = JSONWriter(reserving: 512)
    writer.beginObject()
    writer.member("id", id.text)
    var hasFacts = false
    for name in HotelFields.asked where !name.utf8.contains(UInt8(ascii: ".")) {
      guard let value = fields[name], !value.isNull, !value.stringEquals("None") else { continue }
      writer.member(name, raw: value.minified)
      hasFacts = true
    }
    if let place = place(in: isFlat ? fields : fields["geo"], prefix: isFlat ? "geo." : "") {
      writer.member("geo", raw: place)
    }
    writer.endObject()
    guard hasFacts, let parsed = try? ParsedJSON(writer.bytes, limits: .document) else {
      return nil
    }
    return try? DocumentBody(parsed.root)
  }

  private static func place(in fields: JSONNode?, prefix: String) -> [UInt8]? {
    guard let fields, fields.kind == .object else { return nil }
    var writer = JSONWriter()
    var isEmpty = true
    writer.beginObject()
    for name in ["lat", "lon", "accuracy"] {
      guard let value = fields[prefix + name], !value.isNull else { continue }
      writer.member(name, raw: value.minified)
      isEmpty = false
    }
    writer.endObject()
    return isEmpty ? nil : writer.bytes
  }
}
