import Documents
import Hotels

@testable import SearchProxy

/// Responses of upstreams: they become hotels that can be stored, each id once, or an error.
enum UpstreamFuzzing {
  private static let limits = JSONLimits(maximumBytes: 1 << 20)
  private static let query = HotelQuery(description: "pool", limit: 3)

  static func check(_ bytes: [UInt8]) {
    guard let kind = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    switch kind % 5 {
    case 0:
      if let answer = attempt({ try TravelSampleAnswer(rest, limits: limits) }) {
        checkHotels(answer.hotels)
      }
    case 1: checkPage(rest) { root in try CouchbaseDialect().page(root, for: query) }
    case 2: checkPage(rest) { root in try OpenSearchDialect().page(root, for: query) }
    case 3: checkTerm(String(decoding: rest, as: UTF8.self))
    default: _ = attempt { try UpstreamURL(String(decoding: rest, as: UTF8.self)) }
    }
  }

  private static func checkPage(_ bytes: [UInt8], _ page: (JSONNode) throws -> HotelPage) {
    guard let root = attempt({ try ParsedJSON(bytes, limits: limits).root }),
      let page = attempt({ try page(root) })
    else { return }
    claim(page.hotels.count <= query.limit, "no more hotels than asked for")
    claim(page.next.map { $0 > query.offset } ?? true, "the next page is further on")
    checkHotels(page.hotels)
  }

  private static func checkHotels(_ hotels: [Hotel]) {
    claim(Set(hotels.map(\.id)).count == hotels.count, "each id once")
    for hotel in hotels {
      claim(HotelID(hotel.id.text) == hotel.id, "a good id")
      let again = attempt { try DocumentBody(parsing: hotel.body.bytes) }
      claim(again == hotel.body, "a hotel that can be stored")
    }
  }

  /// A query's text stays within its segment of the path.
  private static func checkTerm(_ text: String) {
    let term = SearchTerm(text)
    for segment in [term.first, term.second].compactMap(\.self) where segment != "*" {
      let isSafe = segment.utf8.allSatisfy { byte in
        PathSegment.isUnreserved(byte) || byte == UInt8(ascii: "%")
      }
      claim(isSafe && segment != "." && segment != "..", "one segment")
    }
  }
}
