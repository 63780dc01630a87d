/// A country, state or city that has hotels.
package struct Place: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    case country, state, city
  }

  package let kind: Kind
  /// Its name as the hotels have it.
  package let name: String
  /// The state and the country of a city, the country of a state; empty when the hotels have none.
  package let state: String
  package let country: String
  /// How many hotels are there.
  package let hotels: Int

  package init(kind: Kind, name: String, state: String, country: String, hotels: Int) {
    (self.kind, self.name, self.state, self.country, self.hotels) =
      (kind, name, state, country, hotels)
  }
}

/// What there is to search for.
package struct PlacePage: Sendable {
  /// The longest beginning of a name, in bytes.
  package static let maximumPrefixBytes = 128
  /// The most places in one answer.
  package static let maximumLimit = 50
  /// Places in an answer when the caller gives no limit.
  package static let defaultLimit = 10

  /// The places, those with most hotels first.
  package let places: [Place]
  /// The orders in which the hotels can be sorted. By price and by distance only if a hotel has a price, or a position.
  package let orders: Set<HotelQuery.Order>

  package init(places: [Place], orders: Set<HotelQuery.Order>) {
    (self.places, self.orders) = (places, orders)
  }
}
