import Hotels

/// A query by phrase in the language of FTS5; see ``WordQuery`` for one by words.
///
/// A client's text is always inside double quotes, and its own quotes are doubled. So nothing in it can act as an
/// operator, a column name or a star. <https://sqlite.org/fts5.html#full_text_query_syntax>
enum MatchExpression: Equatable {
  /// Every hotel: the query has no text.
  case all
  /// No hotel: a text of the query has no word, or stop words only.
  case none
  /// The hotels that match an expression.
  case matching(String)

  /// Makes the expression of a query by phrase.
  init(_ query: HotelQuery) {
    var expressions: [String] = []
    for (columns, text) in [
      ("{name description}", query.description), ("{address city state country}", query.location),
    ] {
      guard let text else { continue }
      guard let expression = PhraseWords.phrase(text).map(Self.quoted) else {
        self = .none
        return
      }
      expressions.append("(\(columns) : \(expression))")
    }
    self = expressions.isEmpty ? .all : .matching(expressions.joined(separator: " AND "))
  }

  private static func quoted(_ text: String) -> String {
    "\"" + escaped(text, by: UInt8(ascii: "\"")) + "\""
  }

  /// A text with a sign before each quote.
  static func escaped(_ text: String, by sign: UInt8) -> String {
    let bytes = text.utf8.flatMap { $0 == UInt8(ascii: "\"") ? [sign, $0] : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
