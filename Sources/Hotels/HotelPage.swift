/// One page of the hotels that match.
package struct HotelPage: Sendable {
  /// The source of an answer.
  package enum Source: String, Sendable {
    /// The upstream, just now.
    case upstream
    /// A cached answer that is still fresh.
    case cache
    /// A cached answer that has expired, because the upstream does not answer.
    case stale
    /// The person's own bookmarked hotels.
    case mirror
  }

  /// The hotels, best match first.
  package let hotels: [Hotel]
  /// The offset of the next page; nil at the end.
  package let next: Int?
  /// How many hotels match in total; nil when that is not known.
  package let total: Int?
  /// Whether no hotel has all words of the query, so that these have most of them.
  package let hasMostOnly: Bool
  /// The source of the answer.
  package let source: Source
  /// The age of the answer in seconds; nil for a new one.
  package let age: Int?
  /// What the cache did, in the form of RFC 9211 (`hit; ttl=42`); nil when no cache was used.
  package let cacheNote: String?

  /// Makes a page.
  package init(
    hotels: [Hotel], next: Int?, total: Int? = nil, hasMostOnly: Bool = false,
    source: Source = .upstream, age: Int? = nil, cacheNote: String? = nil
  ) {
    self.hotels = hotels
    self.next = next
    self.total = total
    self.hasMostOnly = hasMostOnly
    self.source = source
    self.age = age
    self.cacheNote = cacheNote
  }
}
