import Documents

/// Scheme, host and port of a URL (RFC 6454). Requests to an upstream never leave its origin.
package struct UpstreamOrigin: Sendable, Hashable, CustomStringConvertible {
  package enum Scheme: String, Sendable {
    case http, https

    /// The port when none is given (RFC 9110 section 4.2).
    var defaultPort: UInt16 { self == .http ? 80 : 443 }
  }

  package let scheme: Scheme
  /// The host in lower case, in ASCII; an IPv6 address is in brackets.
  package let host: String
  /// The port; the scheme's default port if the URL has none.
  package let port: UInt16

  /// The origin as a URL without a path. It contains the port unless it is the scheme's default.
  package var description: String {
    "\(scheme.rawValue)://\(host)" + (port == scheme.defaultPort ? "" : ":\(port)")
  }

  /// Splits an absolute URL into its origin and the rest: nothing, or a path with its slash.
  /// - Throws: ``UpstreamURLError`` for any error except one in the path, which the caller must check.
  static func split(_ text: String) throws(UpstreamURLError) -> (Self, rest: ArraySlice<UInt8>) {
    let bytes = Array(text.utf8)
    let schemes = [Scheme.http, .https]
    guard let scheme = schemes.first(where: { starts(bytes, with: $0.rawValue + "://") })
    else { throw .badScheme }
    let afterScheme = bytes.dropFirst(scheme.rawValue.utf8.count + 3)
    if afterScheme.contains(UInt8(ascii: "?")) || afterScheme.contains(UInt8(ascii: "#")) {
      throw .hasQueryOrFragment
    }
    let authority = afterScheme.prefix { $0 != UInt8(ascii: "/") }
    if authority.contains(UInt8(ascii: "@")) { throw .hasUserInformation }
    let (host, port) = try hostAndPort(authority)
    let origin = Self(scheme: scheme, host: host, port: port ?? scheme.defaultPort)
    return (origin, rest: afterScheme.dropFirst(authority.count))
  }

  private static func starts(_ bytes: [UInt8], with scheme: String) -> Bool {
    bytes.count >= scheme.utf8.count && zip(bytes, scheme.utf8).allSatisfy { lower($0) == $1 }
  }

  private static func hostAndPort(
    _ authority: ArraySlice<UInt8>
  ) throws(UpstreamURLError) -> (String, UInt16?) {
    let host: ArraySlice<UInt8>
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .badHost }
      host = authority[...end]
      let address = host.dropFirst().dropLast()
      guard address.contains(UInt8(ascii: ":")), address.allSatisfy(isAllowedInAddress) else {
        throw .badHost
      }
    } else {
      host = authority.prefix { $0 != UInt8(ascii: ":") }
      guard !host.isEmpty, host.allSatisfy(isAllowedInName) else { throw .badHost }
    }
    let rest = authority.dropFirst(host.count)
    let name = String(decoding: host.map(lower), as: UTF8.self)
    guard let colon = rest.first else { return (name, nil) }
    let digits = rest.dropFirst()
    guard colon == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
    else { throw .badPort }
    return (name, port)
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }

  private static func isAllowedInName(_ byte: UInt8) -> Bool {
    PathSegment.isUnreserved(byte) && byte != UInt8(ascii: "~")
  }

  private static func isAllowedInAddress(_ byte: UInt8) -> Bool {
    "0123456789abcdef:.".utf8.contains(lower(byte))
  }

  /// The URL in a `Location` header (RFC 9110 section 10.2.2), if it stays on this origin; nil for another scheme,
  /// host or port, user information, a relative path, and bytes that a URL can't contain.
  ///
  /// Only absolute URLs and paths that start with a slash are supported, because Flask sends these to add its slash
  /// at the end. Resolving relative paths would add a way to redirect requests elsewhere.
  func redirect(to location: String) -> String? {
    let bytes = location.utf8
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else {
      return nil
    }
    if bytes.first == UInt8(ascii: "/"), bytes.dropFirst().first != UInt8(ascii: "/") {
      return description + withoutFragment(location)
    }
    let target = withoutFragment(location)
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard let (origin, rest) = try? Self.split(String(Substring(path))), origin == self else {
      return nil
    }
    let query = target.utf8.dropFirst(path.count)
    return description + String(decoding: rest, as: UTF8.self) + String(Substring(query))
  }

  private func withoutFragment(_ location: String) -> String {
    String(Substring(location.utf8.prefix { $0 != UInt8(ascii: "#") }))
  }
}
