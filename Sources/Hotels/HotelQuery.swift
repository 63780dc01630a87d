/// A search for hotels: words about the hotel, its location, and how to match and order.
package struct HotelQuery: Sendable, Hashable {
  /// How the texts of a query are matched.
  package enum Matching: Sendable, Hashable {
    /// As the travel-sample application does. Each text is a phrase of lower-cased words that must occur as
    /// written. The location is matched against country, city, state and address, the description against
    /// description and name.
    case phrase
    /// All words in any order. The last word is a prefix. Case and accents are ignored. Best match first.
    case words
  }

  /// The order of the hotels. Hotels without a price (for `price`) or without coordinates (for `distance`) come
  /// last.
  package enum Order: String, Sendable, Hashable, CaseIterable {
    /// Best match first. A query without texts returns all hotels by name.
    case relevance
    /// By name, ignoring case.
    case name
    /// Cheapest first, by the first number in the hotel's price that counts no nights or guests. The currency is ignored.
    case price
    /// Nearest first.
    case distance
  }

  /// The longest text, in bytes of UTF-8.
  package static let maximumTextBytes = 512
  /// The most different words in both texts together.
  package static let maximumWords = 32
  /// The most time for one search of the embedded catalogue or of a person's mirror, in milliseconds.
  package static let maximumMilliseconds = 200
  /// The most hotels in one answer.
  package static let maximumLimit = 100
  /// The highest offset.
  package static let maximumOffset = 10_000
  /// Hotels in an answer when the caller gives no limit.
  package static let defaultLimit = 20

  /// Words about the hotel; nil for any hotel.
  package let description: String?
  /// Words about its location; nil for any location.
  package let location: String?
  /// How the texts are matched.
  package let matching: Matching
  /// The order of the hotels.
  package let order: Order
  /// The point from which distances are measured; nil in every order but `distance`.
  package let near: GeoPoint?
  /// Hotels wanted, 1 to ``maximumLimit``.
  package let limit: Int
  /// Hotels to skip, 0 to ``maximumOffset``.
  package let offset: Int

  /// Makes a query. Values out of bounds are clamped. Blank texts count as nil. The order `distance` without `near`
  /// becomes `relevance`.
  package init(
    description: String? = nil, location: String? = nil, matching: Matching = .words,
    order: Order = .relevance, near: GeoPoint? = nil, limit: Int = HotelQuery.defaultLimit,
    offset: Int = 0
  ) {
    self.description = Self.nonBlank(description)
    self.location = Self.nonBlank(location)
    self.matching = matching
    self.order = order == .distance && near == nil ? .relevance : order
    self.near = order == .distance ? near : nil
    self.limit = min(max(limit, 1), Self.maximumLimit)
    self.offset = min(max(offset, 0), Self.maximumOffset)
  }

  /// How many different words both texts have together. A word is a run of letters and digits; case is ignored. The
  /// cost of a search grows with this number.
  package var wordCount: Int {
    var words: Set<[UInt8]> = []
    for text in [description, location] {
      let runs = (text ?? "").unicodeScalars.split { scalar in
        !(scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      }
      for run in runs { words.insert(Array(String(run).lowercased().utf8)) }
    }
    return words.count
  }

  private static func nonBlank(_ text: String?) -> String? {
    guard let text, text.utf8.contains(where: { $0 > 0x20 }) else { return nil }
    return text
  }
}
