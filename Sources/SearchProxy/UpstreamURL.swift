/// Where an upstream lives: a checked `http` or `https` URL (RFC 3986) with a host, perhaps a port
/// and a path that goes before the upstream's own paths. Only the configuration makes one, never a
/// request.
package struct UpstreamURL: Sendable, Hashable, CustomStringConvertible {
  /// Scheme, host and port: what a redirect may not leave.
  package let origin: UpstreamOrigin
  /// The path before the upstream's own, such as `/travel`; empty, or with a slash first and none
  /// last.
  package let prefix: String

  /// Reads `http://host[:port][/path]`; a slash at the end does not count.
  /// - Throws: ``UpstreamURLError`` for another scheme, no host, user information, a query, a
  ///   fragment, and a path with a dot segment, an empty segment, or a character that would have to
  ///   be percent-encoded or is.
  package init(_ text: String) throws(UpstreamURLError) {
    let (origin, rest) = try UpstreamOrigin.split(text)
    var prefix = rest
    if prefix.last == UInt8(ascii: "/") { prefix.removeLast() }
    for segment in prefix.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropFirst()
    {
      guard !segment.isEmpty, !Self.isDots(segment), segment.allSatisfy(Self.mayStandInPath) else {
        throw UpstreamURLError(.badPath)
      }
    }
    self.origin = origin
    self.prefix = String(decoding: prefix, as: UTF8.self)
  }

  /// The URL of one of the upstream's own paths.
  /// - Parameter path: starts with a slash and is encoded already.
  package func url(of path: String) -> String {
    origin.description + prefix + path
  }

  /// The URL without a slash at its end.
  package var description: String { origin.description + prefix }

  private static func isDots(_ segment: ArraySlice<UInt8>) -> Bool {
    segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
  }

  /// `pchar` of RFC 3986 section 3.3 without percent-encoding, which servers resolve in different
  /// ways.
  private static func mayStandInPath(_ byte: UInt8) -> Bool {
    PathSegment.isUnreserved(byte) || "!$&'()*+,;=:@".utf8.contains(byte)
  }
}
