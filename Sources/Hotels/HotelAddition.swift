package import Documents
import Stores

/// A hotel to bookmark: facts that the caller gives, or facts that the service knows.
package struct HotelAddition: Sendable {
  /// The hotel's id.
  package let id: HotelID
  /// Whether ``given`` has facts. If so, they replace everything in an existing bookmark. Otherwise an existing
  /// bookmark gets only what the upstream has changed.
  package let replaces: Bool
  /// The hotel as the caller gives it; nil when the caller gives only an id.
  package let given: Hotel?
  /// The hotel as the upstream describes it; nil when that is not known.
  package var shown: Hotel?
  /// The body of a new bookmark, set by ``prepared()``; nil when the hotel is not known.
  private(set) var body: DocumentBody?

  /// A hotel with facts that the caller gives.
  package init(facts hotel: Hotel) { (id, given, replaces) = (hotel.id, hotel, true) }

  /// A hotel given by its id alone.
  /// - Parameter shown: the hotel as the upstream describes it.
  package init(known id: HotelID, shown: Hotel? = nil) {
    (self.id, self.shown, given, replaces) = (id, shown, nil, false)
  }

  /// A hotel whose facts the upstream may supply. Without them, the given ones are stored.
  package init(bare hotel: Hotel) { (id, given, replaces) = (hotel.id, hotel, false) }

  /// Reads a hotel of a batch.
  /// - Throws: ``DocumentError`` for anything that is not a valid hotel from a client; see ``Hotel/init(_:from:)``.
  package init(_ node: JSONNode) throws {
    let hotel = try Hotel(node, from: .client)
    if HotelShape.hasFacts(node) {
      self.init(facts: hotel)
    } else {
      // The type must be checked here, because the given object is not stored.
      if let type = node["type"], !type.stringEquals(Hotel.type) {
        throw DocumentError(.invalidDocument, #"A hotel's type must be "hotel", or left out"#)
      }
      guard HotelShape.hasID(node) else {
        throw DocumentError(.invalidDocument, "A hotel must have an id, or facts")
      }
      self.init(known: hotel.id)
    }
  }

  /// A copy with the body to store. It is made before the store is opened.
  /// - Throws: `invalidDocument` and `tooLarge`.
  func prepared() throws -> HotelAddition {
    var addition = self
    let hotel = replaces ? given : shown ?? given
    addition.body = try hotel.map { hotel in try Hotel(id: id, body: hotel.body).stored() }
    return addition
  }

  /// The error for a hotel that is neither known nor bookmarked.
  var isUnknown: ServiceError {
    ServiceError(.unknownHotel, "No hotel of the id \(id) is known; send its facts in the body")
  }
}
