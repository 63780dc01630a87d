import Documents
import Hotels

/// One text of a query as a travel-sample upstream takes it: a segment of the path.
///
/// The upstream reads a text as a phrase: it cuts it into words at white space and punctuation, so
/// those two mean the same to it. That gives a way out wherever punctuation has a meaning in a
/// path.
enum SearchTerm: Sendable, Equatable {
  /// Anything will do: the segment `*`.
  case any
  /// No hotel can match, and the text must not be sent: `.` and `..` would walk the path on servers
  /// that resolve them even when encoded, `*` would mean anything. None of them has a word in it.
  case nothing
  /// The text as a segment; and a second spelling for upstreams that answer 404 to the first,
  /// because they resolve `%2F` before they look for a route (WSGI servers, so Flask, do).
  case segment(String, otherwise: String?)

  /// What to send for a text; nil for any.
  init(_ text: String?) {
    guard let text else {
      self = .any
      return
    }
    let parts = text.utf8.split(whereSeparator: Self.isSlash)
    let hasSlash = text.utf8.contains(where: Self.isSlash)
    let spaced = String(
      decoding: text.utf8.map { Self.isSlash($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    if parts.allSatisfy(Self.meansSomethingInAPath) {
      self = .nothing
    } else if !hasSlash {
      self = .segment(PathSegment.encode(text), otherwise: nil)
    } else if parts.contains(where: Self.meansSomethingInAPath) {
      self = .segment(PathSegment.encode(spaced), otherwise: nil)
    } else {
      self = .segment(PathSegment.encode(text), otherwise: PathSegment.encode(spaced))
    }
  }

  /// The segment to send first; nil when nothing can match.
  var first: String? {
    switch self {
    case .any: "*"
    case .nothing: nil
    case .segment(let text, _): text
    }
  }

  /// The segment to send when the first is not found; nil if there is no other spelling.
  var second: String? {
    if case .segment(_, let otherwise) = self { otherwise } else { nil }
  }

  /// Whether a text is empty, `.`, `..` or `*`, white space aside: some servers trim a segment.
  private static func meansSomethingInAPath(_ text: Substring.UTF8View) -> Bool {
    let core = text.filter { $0 > 0x20 }
    return core.isEmpty || core == Array(".".utf8) || core == Array("..".utf8)
      || core == Array("*".utf8)
  }

  private static func isSlash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
  }
}

extension SearchError {
  /// An upstream that can't be reached, or says that it can't answer.
  /// - Parameter mayRetry: whether a second attempt may find it there: it was not reached at all, or a
  ///   gateway spoke for it.
  static func unavailable(_ detail: String, mayRetry: Bool = false) -> SearchError {
    SearchError(
      .unavailable, "Hotel search can't be reached right now.", detail: detail, mayRetry: mayRetry)
  }

  /// An upstream that takes too long.
  static func timeout(_ detail: String, mayRetry: Bool = false) -> SearchError {
    SearchError(
      .timeout, "Hotel search did not answer in time.", detail: detail, mayRetry: mayRetry)
  }

  /// An upstream whose answer makes no sense.
  static func badAnswer(_ detail: String) -> SearchError {
    SearchError(.badAnswer, "Hotel search gave an answer that can't be used.", detail: detail)
  }
}
