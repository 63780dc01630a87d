import Documents
import Hotels

/// One text of a query in the form that a travel-sample upstream takes: a segment of the path.
///
/// The upstream treats a text as a phrase. It splits it into words at white space and punctuation, which are
/// therefore equivalent. So punctuation with a meaning in a path can be replaced by white space.
struct SearchTerm: Sendable {
  /// The segment to send first; nil when no hotel can match, and the text must not be sent. Some servers resolve `.` and
  /// `..` in a path even when they are encoded, and `*` would match everything. None of them contains a word.
  let first: String?
  /// A second spelling for upstreams that answer 404 to the first because they decode `%2F` before they look for a route
  /// (WSGI servers such as Flask's do); nil if there is none.
  let second: String?

  /// Converts a text; nil matches anything: the segment `*`.
  init(_ text: String?) {
    guard let text else {
      (first, second) = ("*", nil)
      return
    }
    let parts = text.utf8.split(whereSeparator: Self.isSlash)
    let hasSlash = text.utf8.contains(where: Self.isSlash)
    let spaced = String(
      decoding: text.utf8.map { Self.isSlash($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    if parts.allSatisfy(Self.isSpecialSegment) {
      (first, second) = (nil, nil)
    } else if !hasSlash {
      (first, second) = (PathSegment.encode(text), nil)
    } else if parts.contains(where: Self.isSpecialSegment) {
      (first, second) = (PathSegment.encode(spaced), nil)
    } else {
      (first, second) = (PathSegment.encode(text), PathSegment.encode(spaced))
    }
  }

  /// Whether a text is empty, `.`, `..` or `*`, ignoring white space, because some servers trim a segment.
  private static func isSpecialSegment(_ text: Substring.UTF8View) -> Bool {
    let core = text.filter { $0 > 0x20 }
    return core.isEmpty || core == Array(".".utf8) || core == Array("..".utf8)
      || core == Array("*".utf8)
  }

  private static func isSlash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
  }
}

extension SearchError {
  /// An upstream that can't be reached, or says that it can't answer now.
  /// - Parameter mayRetry: whether a second attempt may succeed: no connection was made, or a gateway answered.
  static func unavailable(_ detail: String, mayRetry: Bool = false) -> SearchError {
    SearchError(
      .unavailable, "Hotel search can't be reached right now.", detail: detail, mayRetry: mayRetry)
  }

  /// An upstream that does not answer in time.
  static func timeout(_ detail: String, mayRetry: Bool = false) -> SearchError {
    SearchError(
      .timeout, "Hotel search did not answer in time.", detail: detail, mayRetry: mayRetry)
  }

  /// An upstream whose answer can't be used.
  static func badAnswer(_ detail: String) -> SearchError {
    SearchError(.badAnswer, "Hotel search gave an answer that can't be used.", detail: detail)
  }
}
