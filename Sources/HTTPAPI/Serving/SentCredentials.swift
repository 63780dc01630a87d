import Accounts
import FoundationEssentials

/// The unverified credentials in `Authorization`: a bearer token (RFC 6750), or a name with a password (RFC 7617).
enum SentCredentials: Sendable {
  /// A token.
  case bearer(String)
  /// A user's name and password; the password may contain colons.
  case basic(name: String, password: Secret)

  /// The names of the session cookie: the same as CouchDB's, and for Couchbase Lite the same as Sync Gateway's.
  static let (cookieName, liteCookieName) = ("AuthSession", "SyncGatewaySession")

  /// Reads the field's value; nil for another scheme, and for anything but Base64 of `user:password` in UTF-8.
  init?(authorization field: String) {
    guard let blank = field.utf8.firstIndex(of: 0x20) else { return nil }
    let value = field[blank...].trimmingSpaces
    guard !value.isEmpty else { return nil }
    switch field[..<blank].lowercased() {
    case "bearer": self = .bearer(value)
    case "basic":
      guard let data = Data(base64Encoded: value),
        let text = String(validating: data, as: UTF8.self),
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
      else { return nil }
      let password = text[text.utf8.index(after: colon)...]
      self = .basic(name: String(text[..<colon]), password: Secret(String(password)))
    default: return nil
    }
  }

  /// The session's token in a `Cookie` field, and its name there; nil if it has none.
  static func cookie(_ field: String) -> (name: String, token: String)? {
    for pair in field.utf8.split(separator: UInt8(ascii: ";")) {
      let text = String(decoding: pair, as: UTF8.self).trimmingSpaces
      for name in [cookieName, liteCookieName] where text.utf8.starts(with: (name + "=").utf8) {
        return (name, String(Substring(text.utf8.dropFirst(name.utf8.count + 1))))
      }
    }
    return nil
  }
}
