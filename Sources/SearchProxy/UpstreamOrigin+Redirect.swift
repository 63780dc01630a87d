extension UpstreamOrigin {
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
