import Documents
import Hotels

/// A hundred hotels of one search from an offset on: the unit of requests to an upstream and of the cache. Pages of
/// any size are cut from blocks, so that paging asks the upstream once and keeps one order.
struct HotelBlock: Sendable {
  /// The number of hotels in a full block.
  static let size = HotelQuery.maximumLimit
  /// The limits for reading a block. A hotel is nested more deeply here than in an upstream's answer.
  private static let limits: JSONLimits = {
    var limits = JSONLimits.request
    limits.maximumDepth += 4
    return limits
  }()

  /// The hotels, at most ``size``.
  let hotels: [Hotel]
  let hasMore: Bool

  init(_ page: HotelPage) {
    hotels = page.hotels
    hasMore = page.next != nil
  }

  /// Reads ``bytes``; nil for anything else.
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
    JSONWriter.object(reserving: 4_096) { writer in
      writer.member("more", hasMore)
      writer.objects("hotels", of: hotels) { hotel, writer in
        writer.member("id", hotel.id.text)
        writer.member("hotel", raw: hotel.body.bytes)
      }
    }
  }
}
