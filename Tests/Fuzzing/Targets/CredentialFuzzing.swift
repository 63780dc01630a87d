import Documents
import IPAddresses

@testable import Accounts
@testable import HTTPAPI

/// Credentials and addresses in a request's headers: each is accepted in one spelling only, or refused.
enum CredentialFuzzing {
  static func check(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    checkToken(text)
    checkBase64(bytes)
    checkFields(text)
    checkName(text)
    let prefix = ClientAddress(text).prefix
    claim(prefix == "unknown" || prefix.utf8.allSatisfy { $0 < 0x7F && $0 > 0x20 }, "an address")
  }

  private static func checkToken(_ text: String) {
    if let token = attempt({ try CompactToken(text) }) {
      var again: [UInt8] = []
      Base64URL.append(token.form.header, to: &again)
      again.append(UInt8(ascii: "."))
      Base64URL.append(token.form.payload, to: &again)
      claim(again == token.form.signed, "what is signed is what was read")
      again.append(UInt8(ascii: "."))
      Base64URL.append(token.form.signature, to: &again)
      claim(again == Array(text.utf8), "a token has one spelling")
      checkClaims(token.form.payload)
    }
    checkClaims(Array(text.utf8))
    if let token = attempt({ try IDToken(text) }) {
      claim(attempt({ try CompactForm(text) })?.signed == token.signed, "one reader of the form")
      claim(attempt({ try CompactToken(text) }) == nil, "another's token is none of ours")
    }
    let root = attempt { try ParsedJSON(Array(text.utf8), limits: .small).root }
    if let claims = root.flatMap(IDTokenClaims.init) {
      claim(claims.expiresAt > claims.issuedAt, "a token that ends after it began")
      claim((1...255).contains(claims.subject.utf8.count), "a subject of a bounded length")
    }
  }

  private static func checkClaims(_ payload: [UInt8]) {
    guard let root = attempt({ try ParsedJSON(payload, limits: .small).root }),
      let claims = TokenClaims(root, issuer: "i", audience: "a")
    else { return }
    let again = attempt { try ParsedJSON(claims.bytes(issuer: "i", audience: "a"), limits: .small) }
    claim(
      again.flatMap { TokenClaims($0.root, issuer: "i", audience: "a") } == claims,
      "claims read as they were written")
    claim(claims.expiresAt > claims.issuedAt, "a token that ends after it began")
  }

  private static func checkBase64(_ bytes: [UInt8]) {
    if let decoded = Base64URL.decode(bytes) {
      var again: [UInt8] = []
      Base64URL.append(decoded, to: &again)
      claim(again == bytes, "Base64 in one spelling")
    }
    var encoded: [UInt8] = []
    Base64URL.append(bytes, to: &encoded)
    claim(Base64URL.decode(encoded) == bytes, "bytes come back from Base64")
  }

  private static func checkFields(_ text: String) {
    switch SentCredentials(authorization: text) {
    case .bearer(let token)?: claim(text.utf8.count > token.utf8.count, "a token within its field")
    case .basic(let name, _)?: claim(!name.utf8.contains(0x3A), "a name without a colon")
    case nil: break
    }
    if let token = SentCredentials.cookie(text)?.token {
      claim(!token.utf8.contains(0x3B), "a cookie ends at a semicolon")
    }
  }

  private static func checkName(_ text: String) {
    if let name = attempt({ try UserName(given: text) }), name.text.utf8.contains(0x3A) {
      claim(name.text.utf8.elementsEqual(text.utf8), "an issuer's user has one spelling")
      claim(attempt({ try UserName(text) }) == nil, "with which nobody signs up")
    }
    guard let name = attempt({ try UserName(text) }) else { return }
    let again = attempt { try UserName(name.text) }
    claim(again?.text.utf8.elementsEqual(name.text.utf8) ?? false, "a name is normal once")
    claim(again?.key.utf8.elementsEqual(name.key.utf8) ?? false, "and so is its key")
    claim(!name.text.utf8.contains { $0 < 0x20 || $0 == 0x2F || $0 == 0x3A }, "no control, / and :")
  }
}
