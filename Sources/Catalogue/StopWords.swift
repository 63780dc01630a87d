/// The English words that the travel-sample's index leaves out: the Snowball project's list, which
/// Bleve's filter `stop_en` uses. <https://snowballstem.org/algorithms/english/stop.txt>
enum StopWords {
  private static let words: Set<[UInt8]> = Set(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she \
    her hers herself it its itself they them their theirs themselves what which who whom this that \
    these those am is are was were be been being have has had having do does did doing would should \
    could ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd \
    she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't \
    haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't \
    mustn't let's that's who's what's here's there's when's where's why's how's a an the and but if \
    or because as until while of at by for with about against between into through during before \
    after above below to from up down in out on off over under again further then once here there \
    when where why how all any both each few more most other some such no nor not only own same so \
    than too very
    """.utf8.split(separator: 0x20).map(Array.init))

  private static let longest = words.map(\.count).max() ?? 0

  /// Whether the UTF-8 bytes of a word in lower case are one of them.
  static func contains(_ word: [UInt8]) -> Bool {
    word.count <= longest && words.contains(word)
  }
}
