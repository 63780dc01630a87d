/// The origin of a URL in the form in which browsers send it: scheme and host in lower case, no default port.
///
/// Source: the URL standard, "origin"; RFC 6454, section 6.2.
package struct WebOrigin: Sendable, Equatable {
  /// `scheme://host[:port]`.
  package let text: String
  /// What follows in the URL: empty, or a path with a slash at its beginning and none at its end.
  package let path: String

  /// Reads `scheme://host[:port][/path]`; nil for anything else, such as a URL with a query, with a user's name, or with
  /// a host in other than ASCII letters. Browsers send an international name as `xn--…`.
  package init?(url: String) {
    let bytes = Array(url.utf8)
    guard let end = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes[end...].starts(with: "://".utf8)
    else { return nil }
    let scheme = bytes[..<end]
    let rest = bytes[(end + 3)...]
    let authority = rest.prefix { $0 != UInt8(ascii: "/") }
    var path = rest[authority.endIndex...]
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    guard scheme.first.map(Self.isLetter) ?? false, scheme.allSatisfy(Self.isSchemeByte),
      !path.contains(where: { $0 <= 0x20 || $0 >= 0x7F || "?#\\".utf8.contains($0) }),
      let (host, port) = Self.parts(of: authority)
    else { return nil }
    let name = String(decoding: scheme, as: UTF8.self).lowercased()
    let suffix = port.map { $0 == Self.defaultPorts[name] ? "" : ":\($0)" } ?? ""
    text = name + "://" + String(decoding: host, as: UTF8.self).lowercased() + suffix
    self.path = String(decoding: path, as: UTF8.self)
  }

  private static let defaultPorts: [String: UInt16] = ["http": 80, "https": 443]

  /// Splits a host from its port. An IPv6 address is in brackets.
  private static func parts(of authority: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, UInt16?)? {
    let isAddress = authority.first == UInt8(ascii: "[")
    let host: ArraySlice<UInt8>
    if isAddress {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      host = authority[...end]
      guard host.count > 2, host.dropFirst().dropLast().allSatisfy(isAddressByte) else {
        return nil
      }
    } else {
      host = authority.prefix { $0 != UInt8(ascii: ":") }
      guard !host.isEmpty, host.allSatisfy(isHostByte) else { return nil }
    }
    let rest = authority[host.endIndex...]
    guard let colon = rest.first else { return (host, nil) }
    let digits = rest.dropFirst()
    guard colon == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(String(decoding: digits, as: UTF8.self))
    else { return nil }
    return (host, port)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "-._".utf8.contains(byte)
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    (0x61...0x66).contains(byte | 0x20) || isDigit(byte) || ":.".utf8.contains(byte)
  }
}
