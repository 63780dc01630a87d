import Documents
import HTTPTypes
import Hotels

/// A request's parts that are about bookmarks.
extension Call {
  /// The hotel that the path names.
  /// - Throws: ``Problem`` 400 for an id that no hotel has.
  func hotelID() throws(Problem) -> HotelID {
    let text = try parameter("hotelID")
    guard let id = HotelID(text) else {
      throw Problem(
        .badRequest, "illegal_docid",
        "A hotel's id has 1 to \(DocumentID.maximumBytes) bytes and starts with no underscore")
    }
    return id
  }

  /// The page that a query asks for.
  func bookmarkPage() throws(Problem) -> (limit: Int, after: BookmarkCursor?) {
    let query = try self.query("limit", "after")
    let limit = try query.int("limit", in: 1...HotelQuery.maximumLimit, default: 50)
    return (limit, try query.value("after", or: .invalidNext) { BookmarkCursor($0) })
  }

  /// The hotel in the body; without a body, a hotel of which only the id is given.
  func hotelToPut(_ id: HotelID) async throws -> HotelAddition {
    let bytes = try await body(upTo: BookmarkLimits.hotelBytes)
    guard !bytes.isEmpty else { return HotelAddition(known: id) }
    let node = try await json(bytes, .small)
    let hotel = try Hotel(node, from: .client)
    let isNamed = ["_id", "id", "docid"].contains { !(node[$0]?.isNull ?? true) }
    guard !isNamed || Hotel.canonical(hotel.id.text).equalsBytes(of: Hotel.canonical(id.text))
    else {
      throw Problem(.badRequest, "doc_validation", "The hotel's id must be the one in the path")
    }
    let named = Hotel(id: id, body: hotel.body)
    return HotelShape.hasFacts(node) ? HotelAddition(facts: named) : HotelAddition(bare: named)
  }
}
