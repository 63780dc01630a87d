import Stores
import TestSupport
import Testing

@testable import Accounts

/// Tokens with a wrong form, algorithm or key: all get the same answer.
struct TokenFormTests {
  @Test func aTokenAsTheServiceWritesItIsTaken() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let principal = try await fixture.service.authenticate(bearer: forge.token())
    #expect(principal.kind == .guest)
    #expect(principal.id.text == forge.guest)
    #expect(principal.store == .guest(principal.id))
  }

  @Test(
    .bug(id: "S01"),
    arguments: [
      "none", "None", "NONE", "HS384", "HS512", "RS256", "ES256", "EdDSA", "hs256", "HS256 ", "",
    ])
  func anotherAlgorithmIsRefused(algorithm: String) async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    try await expectInvalid(
      fixture, forge.token(header: forge.header(["alg": "\"\(algorithm)\""])))
  }

  @Test(.bug(id: "S01")) func noneWithoutSignatureIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let header = forge.encode(forge.header(["alg": #""none""#]))
    try await expectInvalid(fixture, header + "." + forge.encode(forge.claims()) + ".")
  }

  @Test(.bug(id: "S01")) func anotherKeyUnderOurIdIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let other = try #require(SigningKey.random(at: fixture.clock.now))
    try await expectInvalid(fixture, forge.token(by: other))
  }

  @Test(.bug(id: "S01")) func everyChangedBitOfTheSignatureIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let parts = forge.token().split(separator: ".")
    let signature = try #require(Base64URL.decode(Array(parts[2].utf8)))
    for bit in 0..<signature.count * 8 {
      var changed = signature
      changed[bit / 8] ^= 1 << (bit % 8)
      try await expectInvalid(fixture, "\(parts[0]).\(parts[1])." + forge.encode(changed))
    }
  }

  @Test(.bug(id: "S01")) func wrongNumberOfPartsIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let token = try TokenForge(fixture).token()
    let parts = token.split(separator: ".").map(String.init)
    for wrong in [
      "", ".", "..", "...", "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", token + ".",
      token + "." + parts[2], "." + token, " " + token, token + "\n", parts[0],
    ] {
      try await expectInvalid(fixture, wrong)
    }
  }

  @Test(.bug(id: "S01")) func anotherSpellingOfTheSameBytesIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let token = forge.token()
    // 32 bytes take 43 digits. The last digit has two unused bits.
    let last = try #require(token.last)
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let index = try #require(digits.firstIndex(of: last))
    let spelled = String(token.dropLast()) + String(digits[index | 1])
    for wrong in [token + "=", token + "==", spelled, token.replacing(".", with: "=.")] {
      try await expectInvalid(fixture, wrong)
    }
  }

  @Test(.bug(id: "S01")) func repeatedMembersAreRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    func twice(_ text: String, _ member: String) -> String {
      String(text.dropLast()) + "," + member + "}"
    }
    for claims in [
      twice(forge.claims(), #""kind":"administrator""#),
      twice(forge.claims(), #""exp":9999999999"#),
      twice(forge.claims(), #""\u0065xp":9999999999"#),
    ] {
      try await expectInvalid(fixture, forge.token(claims: claims))
    }
    try await expectInvalid(
      fixture, forge.token(header: twice(forge.header(), #""alg":"none""#)))
  }

  @Test(
    .bug(id: "S01"),
    arguments: [
      "crit": #"["exp"]"#, "jku": #""https://example.com/keys""#, "x5u": #""https://example.com""#,
      "jwk": #"{"kty":"oct","k":"AA"}"#, "x5c": "[]", "cty": #""JWT""#, "zip": #""DEF""#,
      "b64": "false",
    ])
  func anyFurtherHeaderIsRefused(name: String, value: String) async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    try await expectInvalid(fixture, forge.token(header: forge.header([name: value])))
  }

  @Test(.bug(id: "S01")) func aHeaderThatIsNoObjectIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    for header in [
      "", "null", "[]", #""HS256""#, "{}", "[1,2,3]", forge.header() + " x",
      forge.header(["typ": nil]), forge.header(["typ": #""JOSE""#]),
      "\u{FEFF}" + forge.header(), String(repeating: "[", count: 3_000),
    ] {
      try await expectInvalid(fixture, forge.token(header: header))
    }
  }

  @Test(
    .bug(id: "S02"),
    arguments: [
      nil, "null", "1", "[]", #""""#, #""0000000000000000""#, #""../../etc/passwd""#,
      #""' OR 1=1 --""#, #""%00""#, #""\u0000""#,
      "\"" + String(repeating: "a", count: 5_000) + "\"",
    ])
  func aKeyThatIsNotOursIsRefused(kid: String?) async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    try await expectInvalid(fixture, forge.token(header: forge.header(["kid": kid])))
  }

  @Test(.bug(id: "S02")) func theSameKeyIdInOtherLettersIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let upper = "\"\(forge.key.id.text.uppercased())a\""
    try await expectInvalid(fixture, forge.token(header: forge.header(["kid": upper])))
  }

  @Test func aTokenOfMoreThanEightKibibytesIsRefused() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let long = forge.claims(["pad": "\"" + String(repeating: "a", count: 6_000) + "\""])
    try await expectInvalid(fixture, forge.token(claims: long))
    let short = forge.claims(["pad": "\"" + String(repeating: "a", count: 4_000) + "\""])
    #expect(
      try await fixture.service.authenticate(bearer: forge.token(claims: short)).kind == .guest)
    try await expectInvalid(fixture, String(repeating: "a", count: 1 << 20))
  }

  private func expectInvalid(
    _ fixture: AccountFixture, _ token: String, at location: SourceLocation = #_sourceLocation
  ) async throws {
    do {
      _ = try await fixture.service.authenticate(bearer: token)
      Issue.record("The token was taken", sourceLocation: location)
    } catch let error as ServiceError {
      #expect(error.code == .invalidToken, sourceLocation: location)
      #expect(error.reason == "The token is not valid.", sourceLocation: location)
    }
  }
}
