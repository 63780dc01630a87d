import Documents
import TestSupport
import Testing

@testable import Accounts

/// Makes tokens with any header and claims, as a forger would.
struct TokenForge {
  let key: SigningKey
  let now: Int64
  let guest = "00112233445566778899aabbccddeeff"

  /// A forge that signs with the key of a service.
  init(_ fixture: AccountFixture) throws {
    key = try #require(fixture.keys.current)
    now = fixture.clock.now.seconds
  }

  /// A header as the service writes it, with some members changed, or left out where nil. Values are JSON text.
  func header(_ changes: [String: String?] = [:]) -> String {
    object(
      [("alg", #""HS256""#), ("kid", "\"\(key.id)\""), ("typ", #""JWT""#)], changes)
  }

  /// A guest's claims as the service writes them, with some changed.
  func claims(_ changes: [String: String?] = [:]) -> String {
    object(
      [
        ("iss", #""hotel-bookmarks""#), ("aud", #""hotel-bookmarks""#), ("sub", "\"\(guest)\""),
        ("kind", #""guest""#), ("sid", "\"\(guest)\""), ("jti", "\"\(guest)\""), ("epoch", "0"),
        ("iat", "\(now)"), ("nbf", "\(now)"), ("exp", "\(now + 86_400)"),
        ("auth_time", "\(now)"),
      ], changes)
  }

  /// A token of a header and claims with a correct signature by this key or another one.
  func token(header: String? = nil, claims: String? = nil, by other: SigningKey? = nil) -> String {
    let signed = encode(header ?? self.header()) + "." + encode(claims ?? self.claims())
    let signature = (other ?? key).signature(of: Array(signed.utf8))
    return signed + "." + encode(signature)
  }

  /// Text in base64url.
  func encode(_ text: String) -> String { encode(Array(text.utf8)) }

  /// Bytes in base64url.
  func encode(_ bytes: [UInt8]) -> String {
    var output: [UInt8] = []
    Base64URL.append(bytes, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  private func object(_ members: [(String, String)], _ changes: [String: String?]) -> String {
    var parts: [String] = []
    for (name, value) in members {
      if let value = changes[name] ?? value { parts.append("\"\(name)\":\(value)") }
    }
    for (name, value) in changes where !members.contains(where: { $0.0 == name }) {
      if let value { parts.append("\"\(name)\":\(value)") }
    }
    return "{" + parts.joined(separator: ",") + "}"
  }
}
