import Documents

/// The URL of a database on another server: http or https, with a host, and perhaps a port and credentials (RFC 3986).
struct RemoteURL: Sendable, Hashable {
  /// A user name and a password.
  struct Credentials: Sendable, Hashable {
    let user: String
    let password: String

    /// The value of `Authorization` (RFC 7617).
    var field: String { "Basic " + Base64.string(Array("\(user):\(password)".utf8)) }
  }

  /// The URL without credentials, with a slash at its end.
  let base: String
  /// The host in lower case; an IPv6 address is in brackets.
  let host: String
  /// The port; nil for the scheme's own and for CouchDB's 5984.
  let port: Int?
  /// The path with slashes around it.
  let path: String
  /// The credentials in the URL.
  let credentials: Credentials?

  /// Reads a URL; nil for one with a query, a fragment, or bytes that no URL has.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\\\"<>^`{|}?#".utf8.contains($0) })
    else { return nil }
    // In any case: a phone's keyboard begins it with a capital letter.
    guard let mark = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<mark.lowerBound].lowercased()
    let (rest, isSecure) = (text[mark.upperBound...], scheme == "https")
    guard isSecure || scheme == "http" else { return nil }
    let authority = rest.prefix { $0 != "/" }
    let at = authority.lastIndex(of: "@")
    let place = at.map { authority[authority.index(after: $0)...] } ?? authority
    credentials = at.flatMap { Self.credentials(authority[..<$0]) }
    if at != nil, credentials == nil { return nil }
    guard let (host, port) = Self.hostAndPort(place) else { return nil }
    var path = String(rest.dropFirst(authority.count))
    if !path.hasSuffix("/") { path += "/" }
    let usual = isSecure ? 443 : 80
    (self.host, self.path) = (host, path)
    self.port = port == usual || (!isSecure && port == 5_984) ? nil : port
    base = "\(scheme)://\(host)" + (port.map { $0 == usual ? "" : ":\($0)" } ?? "") + path
  }

  private static func hostAndPort(_ text: Substring) -> (String, Int?)? {
    let host: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[...end]
      let allowed = "0123456789abcdefABCDEF:."
      guard host.count > 2, host.dropFirst().dropLast().allSatisfy({ allowed.contains($0) }) else {
        return nil
      }
    } else {
      host = text.prefix { $0 != ":" }
      guard !host.isEmpty, host.utf8.allSatisfy({ PathSegment.isUnreserved($0) }) else {
        return nil
      }
    }
    let rest = text.dropFirst(host.count)
    guard !rest.isEmpty else { return (host.lowercased(), nil) }
    guard rest.first == ":", rest.dropFirst().allSatisfy({ ("0"..."9").contains($0) }),
      let port = Int(rest.dropFirst()), (1...65_535).contains(port)
    else { return nil }
    return (host.lowercased(), port)
  }

  private static func credentials(_ text: Substring) -> Credentials? {
    let user = text.prefix { $0 != ":" }
    guard user.count < text.count, let name = decoded(user),
      let password = decoded(text.dropFirst(user.count + 1))
    else { return nil }
    return Credentials(user: name, password: password)
  }

  /// A percent-decoded text; nil for a broken escape and invalid UTF-8.
  static func decoded(_ text: some StringProtocol) -> String? {
    PathSegment.decode(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
