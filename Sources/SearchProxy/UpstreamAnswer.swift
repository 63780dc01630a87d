import Documents
import Hotels

/// An upstream's answer, completely read and within the limits.
struct UpstreamAnswer: Sendable {
  let status: Int
  /// The media type of `Content-Type` in lower case, without parameters; nil when the header is absent.
  let mediaType: String?
  /// The target of a redirect; nil when the header is absent.
  let location: String?
  /// Whether the answer has `Retry-After`.
  var namesRetryTime = false
  /// The content of a 2xx answer; empty for any other status.
  let body: [UInt8]

  /// Whether the content may be JSON: its type is `application/json` or `+json` (RFC 6839 section 3.1), or it has
  /// none.
  var mayBeJSON: Bool {
    guard let mediaType else { return true }
    return mediaType.utf8.elementsEqual("application/json".utf8)
      || mediaType.utf8.suffix(5).elementsEqual("+json".utf8)
  }

  /// Whether the status means that the upstream can't answer now: overload, or a gateway without its server.
  static func meansUnavailable(_ status: Int) -> Bool { [429, 502, 503, 504].contains(status) }

  /// Checks that the answer is a success with JSON.
  /// - Throws: `unavailable` for a status that means it, otherwise `badAnswer`.
  func requireJSON() throws(SearchError) {
    if Self.meansUnavailable(status) {
      throw .unavailable("status \(status)", mayRetry: mayBeAskedAgain)
    }
    guard (200..<300).contains(status) else { throw .badAnswer("status \(status)") }
    guard mayBeJSON else { throw .badAnswer("the answer is not JSON") }
  }

  /// Parses the content of an answer, which must be an object.
  /// - Throws: `badAnswer`.
  static func object(_ content: [UInt8], _ limits: JSONLimits) throws(SearchError) -> JSONNode {
    let root: JSONNode
    do {
      root = try ParsedJSON(content, limits: limits).root
    } catch { throw .badAnswer(error.debugDescription) }
    guard root.kind == .object else { throw .badAnswer("the answer is not an object") }
    return root
  }

  /// Whether a second attempt makes sense: a gateway answered (502, 503, 504) without a `Retry-After`.
  var mayBeAskedAgain: Bool { [502, 503, 504].contains(status) && !namesRetryTime }

  /// Whether the status is a redirect after which a GET request is sent (RFC 9110 section 15.4).
  var isRedirect: Bool { [301, 302, 307, 308].contains(status) }
}
