import Documents
import Hotels

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
    let bytes = JSONWriter.object { writer in
      for name in ["lat", "lon", "accuracy"] {
        guard let value = fields[prefix + name], !value.isNull else { continue }
        writer.member(name, raw: value.minified)
      }
    }
    return bytes.count > 2 ? bytes : nil
  }
}
