import Text

/// What a search says that no hotel writes: a price (``PriceWish``), the nights, guests and dates of a stay (``StayWords``).
/// It does not count as words.
enum SaidWords {
  /// One thing that a text says.
  struct Said {
    /// Nil for what is said about a stay.
    let wish: PriceWish?
    /// The phrases by which the name, the address or the city of a hotel says the same: "Rue du 4 Septembre", "25 de Mayo". A
    /// single word is one only beside its neighbour: "Cheap Sleep".
    let names: [String]

    fileprivate init(_ match: TextPattern.Match) {
      let isLeast = match.groups.dropFirst().contains { $0 != nil }
      wish = match.groups.first == .some(nil) ? PriceWish(match.text, isLeast: isLeast) : nil
      let own = FoldedText(match.text).terms.flatMap(\.parts)
      func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }
      let beside =
        words(match.before).suffix(1).map { $0 + " " + match.text }
        + words(match.after).prefix(1).map { match.text + " " + $0 }
      let isNumber = own.contains { $0.text.contains(where: \.isNumber) }
      names = (own.count > 1 ? [match.text] : isNumber ? [] : beside)
        .map { FoldedText($0).terms.flatMap(\.parts) }.filter { $0.count > 1 }
        .map(WordQuery.phrase)
    }
  }

  /// The pattern of a device, too: its first group has what is said about a stay, another one is there if a price is the
  /// least.
  static let pattern = "(?<!\\S)(?:(" + StayWords.pattern + ")|" + PriceWish.pattern + ")(?!\\S)"
  private static let compiled = TextPattern(pattern)

  static func said(in text: String) -> [Said] {
    (compiled?.matches(in: text.normalized(.canonical)) ?? []).map(Said.init)
  }

  /// A text without it.
  static func removed(from text: String) -> String {
    compiled?.replaced(in: text.normalized(.canonical), by: " ") ?? text
  }

  static func list(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

  /// What ends a word in a pattern.
  static let end = "(?![\\p{L}\\p{N}])"

  /// A pattern for any of some words, also without their marks. The longest come first.
  static func either(_ words: [String]) -> String {
    let plain = words.map {
      FoldedText($0).terms.flatMap(\.parts).map(\.text).joined(separator: " ")
    }
    return "(?:"
      + Set(words + plain).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
      .map { $0.replacing(".", with: "\\.") }.joined(separator: "|") + ")"
  }
}
