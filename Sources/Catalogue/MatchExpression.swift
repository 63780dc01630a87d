import Hotels

/// A query in the language of FTS5.
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

  /// Makes the expression of a query.
  /// - Parameter alternatives: further words that may match instead of a word; the keys are words of
  ///   ``words(of:)``.
  init(_ query: HotelQuery, alternatives: [String: [String]] = [:]) {
    let words = { text in Self.words(text, alternatives) }
    switch query.matching {
    case .words:
      self.init([
        ("{name title description amenities}", query.description, words),
        ("{address city state country}", query.location, words),
      ])
    case .phrase:
      self.init([
        ("{name description}", query.description, Self.phrase),
        ("{address city state country}", query.location, Self.phrase),
      ])
    }
  }

  /// The words of a query, in the order of its texts.
  static func words(of query: HotelQuery) -> [String] {
    [query.description, query.location].compactMap { $0 }.flatMap(terms)
  }

  private init(_ parts: [(columns: String, text: String?, translate: (String) -> String?)]) {
    var expressions: [String] = []
    for part in parts {
      guard let text = part.text else { continue }
      guard let expression = part.translate(text) else {
        self = .none
        return
      }
      expressions.append("(\(part.columns) : \(expression))")
    }
    self = expressions.isEmpty ? .all : .matching(expressions.joined(separator: " AND "))
  }

  /// All words of `text`, each once, the last one as a prefix; nil if there is none.
  ///
  /// The text between white space is one term. SQLite's tokenizer splits it as it split the hotel's text: "B&B"
  /// searches for a B next to a B.
  private static func words(_ text: String, _ alternatives: [String: [String]]) -> String? {
    let terms = terms(text)
    guard let last = terms.last else { return nil }
    var known: Set<[UInt8]> = []
    let others = terms.dropLast().filter { known.insert(Array($0.lowercased().utf8)).inserted }
    let all = others.map { (quoted($0), $0) } + [(quoted(last) + " *", last)]
    let expressions = all.map { expression, term in
      let others = (alternatives[term] ?? []).map(quoted)
      return others.isEmpty
        ? expression : "(" + ([expression] + others).joined(separator: " OR ") + ")"
    }
    return "(" + expressions.joined(separator: " AND ") + ")"
  }

  private static func terms(_ text: String) -> [String] {
    text.unicodeScalars
      .split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
      .filter { $0.contains(where: isToken) }
      .map { String($0) }
  }

  private static func phrase(_ text: String) -> String? {
    PhraseWords.phrase(text).map(quoted)
  }

  /// Whether FTS5's tokenizer `unicode61` makes a token of this scalar. A term without any token would match
  /// nothing.
  private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .privateUse:
      true
    default: false
    }
  }

  private static func quoted(_ text: String) -> String {
    var output: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") { output.append(byte) }
      output.append(byte)
    }
    output.append(UInt8(ascii: "\""))
    return String(decoding: output, as: UTF8.self)
  }
}
