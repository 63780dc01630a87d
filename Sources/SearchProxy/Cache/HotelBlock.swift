import Documents
import Hotels
import JSON

/// A hundred hotels of one search, from one place on: what is asked of an upstream and kept. Pages of any
/// size are cut from blocks, so that paging asks the upstream once and stays in one order.
struct HotelBlock: Sendable {
  /// Hotels in a full block.
  static let size = HotelQuery.maximumLimit
  /// What a block's text is read by: a hotel that was taken from an answer lies one level deeper here.
  private static let limits: JSONLimits = {
    var limits = JSONLimits.request
    limits.maximumDepth += 4
    return limits
  }()

  /// The hotels, at most ``size``.
  let hotels: [Hotel]
  /// Whether the search has more behind them.
  let hasMore: Bool

  /// What an upstream found.
  init(_ page: HotelPage) {
    hotels = page.hotels
    hasMore = page.next != nil
  }

  /// Reads ``bytes`` back; nil for anything else.
  init?(_ bytes: [UInt8]) {
    guard let root = try? ParsedJSON(bytes, limits: Self.limits).root,
      let hasMore = root["more"]?.bool, let rows = root["hotels"]
    else { return nil }
    var hotels: [Hotel] = []
    for row in rows.elements {
      guard let id = row["id"]?.string.flatMap(HotelID.init), let facts = row["hotel"],
        facts.kind == .object
      else { return nil }
      hotels.append(Hotel(id: id, body: DocumentBody(readingBack: facts.minified)))
    }
    (self.hotels, self.hasMore) = (hotels, hasMore)
  }

  /// The block as JSON.
  var bytes: [UInt8] {
    var writer = JSONWriter(reserving: 4_096)
    writer.beginObject()
    writer.member("more", hasMore)
    writer.name("hotels")
    writer.beginArray()
    for hotel in hotels {
      writer.beginObject()
      writer.member("id", hotel.id.text)
      writer.member("hotel", raw: hotel.body.bytes)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}

extension HotelQuery {
  /// The numbers of the blocks that the query's page lies in: one, or two neighbours.
  var blocks: ClosedRange<Int> {
    (offset / HotelBlock.size)...((offset + limit - 1) / HotelBlock.size)
  }

  /// The query for a whole block.
  /// - Parameter other: how texts are understood instead; nil for as they are.
  func block(_ number: Int, matching other: HotelQuery.Matching? = nil) -> HotelQuery {
    HotelQuery(
      description: description, location: location, matching: other ?? matching,
      limit: HotelBlock.size,
      offset: number * HotelBlock.size)
  }

  /// What an answer to the query is kept under. Nothing in it belongs to a person.
  func key(upstream: String) -> String {
    let texts = [
      upstream, matching == .phrase ? "phrase" : "words", description ?? "", location ?? "",
    ]
    var writer = JSONWriter()
    writer.beginArray()
    for text in texts { writer.string(text) }
    writer.int(offset)
    writer.endArray()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
