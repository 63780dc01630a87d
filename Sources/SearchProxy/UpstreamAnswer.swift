/// What an upstream answered, read whole and within its bounds.
struct UpstreamAnswer: Sendable {
  /// The status code.
  let status: Int
  /// The media type of `Content-Type` in lower case, without parameters; nil if the header is
  /// absent.
  let mediaType: String?
  /// Where a redirect points; nil if the header is absent.
  let location: String?
  /// Whether the answer has `Retry-After`.
  var namesRetryTime = false
  /// The content of a 2xx answer; empty for any other status, whose content nobody
  /// needs.
  let body: [UInt8]

  /// Whether the content claims to be JSON, or claims nothing: `application/json` or `+json`
  /// (RFC 6839 section 3.1).
  var mayBeJSON: Bool {
    guard let mediaType else { return true }
    return mediaType.utf8.elementsEqual("application/json".utf8)
      || mediaType.utf8.suffix(5).elementsEqual("+json".utf8)
  }

  /// Whether the upstream says that it can't answer now: overload, or a gateway without its server.
  var meansUnavailable: Bool {
    [429, 502, 503, 504].contains(status)
  }

  /// Whether a second attempt makes sense: a gateway spoke (502, 503, 504) and did not say when to come back.
  var mayBeAskedAgain: Bool {
    [502, 503, 504].contains(status) && !namesRetryTime
  }

  /// Whether this redirect keeps a GET as it is or makes one (RFC 9110 section 15.4).
  var isRedirect: Bool {
    [301, 302, 307, 308].contains(status)
  }
}
