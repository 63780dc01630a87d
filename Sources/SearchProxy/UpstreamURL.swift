import Documents

/// The base URL of an upstream: a validated `http` or `https` URL (RFC 3986) with a host, and optionally a port and
/// a path before the upstream's own paths. Only the configuration sets one, never a request.
package struct UpstreamURL: Sendable, Hashable, CustomStringConvertible {
  /// Scheme, host and port. A redirect must not leave them.
  package let origin: UpstreamOrigin
  /// The path before the upstream's own paths, for example `/travel`. It is empty, or starts with a slash and does
  /// not end with one.
  package let prefix: String

  /// Reads `http://host[:port][/path]`. A slash at the end is ignored.
  /// - Throws: ``UpstreamURLError`` for another scheme, a missing host, user information, a query, a fragment, and
  ///   a path with a dot segment, an empty segment, or a character that is or must be percent-encoded.
  package init(_ text: String) throws(UpstreamURLError) {
    let (origin, rest) = try UpstreamOrigin.split(text)
    var prefix = rest
    if prefix.last == UInt8(ascii: "/") { prefix.removeLast() }
    for segment in prefix.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropFirst()
    {
      guard !["", ".", ".."].contains(String(decoding: segment, as: UTF8.self)),
        segment.allSatisfy(Self.isAllowedInPath)
      else { throw .badPath }
    }
    self.origin = origin
    self.prefix = String(decoding: prefix, as: UTF8.self)
  }

  /// The URL of one of the upstream's own paths.
  /// - Parameter path: starts with a slash and is already encoded.
  package func url(of path: String) -> String { origin.description + prefix + path }

  /// The URL without a slash at its end.
  package var description: String { origin.description + prefix }

  /// `pchar` of RFC 3986 section 3.3 without percent-encoding, which servers decode differently.
  private static func isAllowedInPath(_ byte: UInt8) -> Bool {
    PathSegment.isUnreserved(byte) || "!$&'()*+,;=:@".utf8.contains(byte)
  }
}

/// Why a text is not a valid URL of an upstream: a sentence for the operator who configures it. It never repeats the URL,
/// which may contain a password.
package enum UpstreamURLError: String, Error, CustomDebugStringConvertible {
  case badScheme = "An upstream's URL must start with http:// or https://"
  /// Credentials have a setting of their own.
  case hasUserInformation = "An upstream's URL must not hold a user name or password"
  case badHost = "An upstream's URL needs a host of letters, digits, dots and hyphens, or [IPv6]"
  case badPort = "An upstream's port must be 1 to 65535"
  case badPath = "An upstream's path must have no dot segments, no empty ones and no escapes"
  case hasQueryOrFragment = "An upstream's URL must have no query and no fragment"

  package var reason: String { rawValue }
  package var debugDescription: String { "UpstreamURLError: \(rawValue)" }
}
