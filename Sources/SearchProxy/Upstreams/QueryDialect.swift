import Documents
import Hotels
import JSON

/// The requests and answers of a search engine that takes queries as JSON over HTTP.
protocol QueryDialect: Sendable {
  /// The default name of an engine of this kind in metrics and logs.
  static var kind: String { get }
  /// The path of a cheap request that shows whether the engine answers.
  static var probePath: String { get }
  /// The path of a search in an index. The index's name must be encoded as one segment.
  func path(index: String) -> String
  func body(for query: HotelQuery) -> [UInt8]
  func body(for id: HotelID) -> [UInt8]
  /// The hotels of an answer, in its order, and whether there are more after them.
  /// - Throws: ``SearchError`` for an invalid answer, and for one in which a part of the engine failed.
  func page(_ root: JSONNode, for query: HotelQuery) throws(SearchError) -> HotelPage
}

/// The fields of a hotel that are requested from an engine and read from its answers.
enum HotelFields {
  /// The fields in which the location is searched.
  static let location = ["country", "city", "state", "address"]
  /// The fields in which the description is searched.
  static let description = ["description", "name"]
  /// The requested fields. The engine may have more, which this service does not need.
  static let asked = [
    "name", "title", "address", "city", "state", "country", "description", "directions", "phone",
    "tollfree", "email", "fax", "url", "checkin", "checkout", "price", "vacancy", "alias",
    "free_breakfast", "free_internet", "free_parking", "pets_ok", "geo.lat", "geo.lon",
    "geo.accuracy",
  ]
}

/// The hotels of a search engine's hits, with the requested fields only, each id once.
struct QueryRows {
  private var hotels: [Hotel] = []
  private var seen: Set<HotelID> = []
  private var count = 0

  /// Adds a hit. A hit without an id or without fields of a hotel is left out.
  /// - Parameter isFlat: whether a nested field has its path as name (`geo.lat`), as stored fields have.
  mutating func add(id: JSONNode?, fields: JSONNode?, isFlat: Bool) {
    count += 1
    guard let text = id?.string, let fields, fields.kind == .object,
      let id = HotelID(Hotel.canonical(text)),
      let body = Self.body(id, fields, isFlat: isFlat), seen.insert(id).inserted
    else { return }
    hotels.append(Hotel(id: id, body: body))
  }

  /// Makes the page.
  /// - Parameter total: the engine's number of matching hotels.
  /// - Throws: ``SearchError`` with code `badAnswer` when there are hits but no hotel among them.
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
    if let location = location(in: isFlat ? fields : fields["geo"], prefix: isFlat ? "geo." : "") {
      writer.member("geo", raw: location)
    }
    writer.endObject()
    guard hasFacts, let parsed = try? ParsedJSON(writer.bytes, limits: .document) else {
      return nil
    }
    return try? DocumentBody(parsed.root)
  }

  private static func location(in fields: JSONNode?, prefix: String) -> [UInt8]? {
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
