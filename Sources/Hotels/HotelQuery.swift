/// What somebody looks for: a phrase or words about the hotel, and where.
package struct HotelQuery: Sendable, Hashable {
  /// How the texts are understood.
  package enum Matching: Sendable, Hashable {
    /// As the travel-sample does: each text is a phrase of lower-cased words that must occur as such; the
    /// location in country, city, state or address, the description in description or name.
    case phrase
    /// Friendlier: all words in any order, the last one as a prefix, case and accents folded, best first.
    case words
  }

  /// In which order hotels come. What has no price, or no place, comes last.
  package enum Order: String, Sendable, Hashable, CaseIterable {
    /// Best match first; all hotels by name.
    case relevance
    /// By name, capitals as small letters.
    case name
    /// Cheapest first, by the first number in the hotel's price, whatever its currency.
    case price
    /// Nearest first.
    case distance
  }

  /// The longest text, in bytes of UTF-8.
  package static let maximumTextBytes = 512
  /// The most different words of both texts together.
  package static let maximumWords = 32
  /// How long the embedded catalogue, or a person's own mirror, may take for a search, in milliseconds.
  package static let maximumMilliseconds = 200
  /// The most hotels in one answer.
  package static let maximumLimit = 100
  /// The furthest offset.
  package static let maximumOffset = 10_000
  /// Hotels in an answer when nothing is said.
  package static let defaultLimit = 20

  /// What the hotel is like; nil or empty for any.
  package let description: String?
  /// Where it is; nil or empty for anywhere.
  package let location: String?
  /// How the texts are understood.
  package let matching: Matching
  /// In which order they come.
  package let order: Order
  /// From where distances are measured; nil in every other order.
  package let near: GeoPoint?
  /// Hotels wanted, 1 to ``maximumLimit``.
  package let limit: Int
  /// Hotels to pass over, 0 to ``maximumOffset``.
  package let offset: Int

  /// A query whose bounds the caller has checked; what is out of bounds is clipped. Blank texts count as nil.
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

  /// How many different words both texts have together: letters and digits without anything between them, small
  /// or capital. What it costs to search grows with them.
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
