import Documents
package import JSON
import Stores

/// A hotel that somebody wants to bookmark: as it is given, or as it is known.
package struct HotelAddition: Sendable {
  /// The hotel's id.
  package let id: HotelID
  /// Whether ``given`` has facts: they take the place of all that a bookmark says. Otherwise a bookmark stays as it
  /// is, but for what the upstream has changed.
  package let replaces: Bool
  /// The hotel as it is given; nil for nothing but an id.
  package let given: Hotel?
  /// The hotel as the upstream describes it; nil where that is not known.
  package var shown: Hotel?
  /// What a new bookmark says, once it is ``prepared()``; nil where the hotel is not known.
  private(set) var body: DocumentBody?

  /// A hotel with facts of the caller's.
  package init(facts hotel: Hotel) {
    (id, given, replaces) = (hotel.id, hotel, true)
  }

  /// A hotel that is known by its id.
  /// - Parameter shown: as the upstream describes it.
  package init(known id: HotelID, shown: Hotel? = nil) {
    (self.id, self.shown, given, replaces) = (id, shown, nil, false)
  }

  /// A hotel that is known by its id, or else is what little is given.
  package init(bare hotel: Hotel) {
    (id, given, replaces) = (hotel.id, hotel, false)
  }

  /// Reads a hotel of a batch.
  /// - Throws: ``DocumentError`` for what is no hotel of a person's; see ``Hotel/init(_:from:)``.
  package init(_ node: JSONNode) throws {
    let hotel = try Hotel(node, from: .client)
    if HotelShape.hasFacts(node) {
      self.init(facts: hotel)
    } else {
      // The type is looked at here, for what is given is not stored.
      if let type = node["type"], !type.stringEquals(Hotel.type) {
        throw DocumentError(.invalidDocument, #"A hotel's type must be "hotel", or left out"#)
      }
      guard HotelShape.hasID(node) else {
        throw DocumentError(.invalidDocument, "A hotel must have an id, or facts")
      }
      self.init(known: hotel.id)
    }
  }

  /// It with the body to store, which is made before a store is held.
  /// - Throws: `invalidDocument` and `tooLarge`.
  func prepared() throws -> HotelAddition {
    var addition = self
    let hotel = replaces ? given : shown ?? given
    addition.body = try hotel.map { hotel in
      try Hotel(id: id, body: hotel.body).stored()
    }
    return addition
  }

  /// What to say where the hotel is neither known nor bookmarked.
  var isUnknown: ServiceError {
    ServiceError(.unknownHotel, "No hotel of the id \(id) is known; send its facts in the body")
  }
}
