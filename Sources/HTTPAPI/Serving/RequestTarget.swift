import Documents
import HTTPTypes

/// Checks a request's target before it is routed, and percent-decodes its parts exactly once.
///
/// Without these checks the router would treat `//x` as `/x` and turn invalid bytes into U+FFFD.
enum RequestTarget {
  /// The longest target, in bytes: room for the `keys` of some hundred documents.
  static let maximumBytes = 16 * 1024

  /// Checks a target. In CouchDB's dialect empty segments after the first are ignored, and `%2E` is a name.
  /// - Throws: ``Problem`` 414 for a target that is too long, 400 for a malformed one, 404 for an empty path segment
  ///   (`//`).
  static func check(_ target: String, in dialect: Problem.Dialect) throws(Problem) {
    let bytes = target.utf8
    guard bytes.count <= maximumBytes else {
      throw Problem(.uriTooLong, "uri_too_long", "The URI is longer than \(maximumBytes) bytes")
    }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
      throw Problem(.badRequest, "invalid_uri", "The URI has bytes that must be percent-encoded")
    }
    let path = bytes.prefix { $0 != UInt8(ascii: "?") }
    guard path.first == UInt8(ascii: "/") else {
      throw Problem(.badRequest, "invalid_uri", "The request target must start with /")
    }
    guard needsCheck(path) else { return }
    let isCouch = dialect == .couch
    let segments = path.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      if segment.isEmpty {
        guard isCouch && index > 0 || index == segments.count - 1 else {
          throw Problem(.notFound, "not_found", "There is nothing at a path with //")
        }
        continue
      }
      let decoded = try decode(segment, what: "The path")
      let text = isCouch ? String(decoding: segment, as: UTF8.self) : decoded
      guard text != ".", text != ".." else {
        throw Problem(.badRequest, "invalid_uri", "The path must not contain . or .. segments")
      }
    }
  }

  /// Whether a path has an escape, an empty segment or a segment that starts with a dot. Most paths have none.
  private static func needsCheck(_ path: Substring.UTF8View) -> Bool {
    var afterSlash = false
    for byte in path {
      if byte == UInt8(ascii: "%") { return true }
      if afterSlash, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return true }
      afterSlash = byte == UInt8(ascii: "/")
    }
    return false
  }

  /// Decodes `name=value` of a query or a form.
  /// Source: WHATWG URL, "application/x-www-form-urlencoded parsing".
  static func pair(
    _ encoded: some Collection<UInt8>
  ) throws(Problem) -> (name: String, value: String) {
    let name = encoded.prefix { $0 != UInt8(ascii: "=") }
    let value = encoded.dropFirst(name.count + 1)
    return (
      try decode(name, plusIsSpace: true, what: "The query"),
      try decode(value, plusIsSpace: true, what: "The query parameter")
    )
  }

  /// Decodes one path segment, query name or query value.
  /// - Throws: ``Problem`` 400 for a broken escape, invalid UTF-8 or NUL.
  static func decode(
    _ encoded: some Collection<UInt8>, plusIsSpace: Bool = false, what: String
  ) throws(Problem) -> String {
    guard let bytes = PathSegment.decode(encoded, plusIsSpace: plusIsSpace) else {
      throw Problem(.badRequest, "invalid_uri", "\(what) has a % that two hex digits don't follow")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Problem(.badRequest, "invalid_uri", "\(what) is not valid UTF-8")
    }
    guard !bytes.contains(0) else {
      throw Problem(.badRequest, "invalid_uri", "\(what) must not contain NUL")
    }
    return text
  }
}
