import Hotels

/// A block with where it came from.
struct BlockAnswer: Sendable {
  /// The hotels.
  let block: HotelBlock
  /// Where they came from.
  let source: HotelPage.Source
  /// How old the answer is, in seconds; nil for one of just now.
  let age: Int?
  /// What the cache did, for `Cache-Status`.
  let note: String?

  /// A block and its story.
  init(_ block: HotelBlock, source: HotelPage.Source, age: Int?, note: String? = nil) {
    self.block = block
    self.source = source
    self.age = age
    self.note = note
  }

  /// The page that a query asks for, cut from its blocks, the first of which begins at or before it. It is
  /// as old as its oldest block.
  static func page(of answers: [BlockAnswer], for query: HotelQuery) -> HotelPage {
    let hotels = answers.flatMap(\.block.hotels)
    let start = query.offset % HotelBlock.size
    let end = start + query.limit
    let hasMore = end < hotels.count || (answers.last?.block.hasMore ?? false)
    let next = query.offset + query.limit
    let oldest = answers.max { ($0.age ?? -1) < ($1.age ?? -1) }
    return HotelPage(
      hotels: Array(hotels.dropFirst(start).prefix(query.limit)),
      next: hasMore && next <= HotelQuery.maximumOffset ? next : nil,
      source: oldest?.source ?? .upstream, age: oldest?.age, cacheNote: oldest?.note)
  }
}
