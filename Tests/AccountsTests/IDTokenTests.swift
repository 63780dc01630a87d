import Stores
import TestSupport
import Testing

@testable import Accounts

/// Which ID tokens of other issuers are accepted: their form, their claims, and keys that are strong enough.
struct IDTokenTests {
  private static let now = TestClock().now

  @Test(arguments: ["RS256", "ES256", "EdDSA"])
  func aTokenIsItsKeysAlone(algorithm: String) throws {
    let forge = try IssuerForge()
    let keys = try IssuerKeySet(forge.keys)
    let token = try IDToken(forge.token(algorithm))
    let key = try #require(keys[token.key])
    #expect(key.isSignature(token.signature, of: token.signed))
    let other = try IDToken(forge.token(algorithm, subject: "another"))
    #expect(!key.isSignature(other.signature, of: token.signed))
    for wrong in [[], [0], token.signature + [0], Array(token.signature.dropLast())] {
      #expect(!key.isSignature(wrong, of: token.signed))
    }
    for byte in [0, token.signature.count - 1] {
      var flipped = token.signature
      flipped[byte] ^= 1
      #expect(!key.isSignature(flipped, of: token.signed))
    }
  }

  @Test(
    .bug(id: "S01"),
    arguments: [
      #""none""#, #""None""#, #""HS256""#, #""RS384""#, #""PS256""#, #""rs256""#, #""ES256 ""#,
      "null",
      "256", #"["ES256"]"#, nil,
    ])
  func otherAlgorithmsAreRefused(algorithm: String?) throws {
    let forge = try IssuerForge()
    try refused(forge.token(header: ["alg": algorithm]))
  }

  @Test(.bug(id: "S02"), arguments: ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc"])
  func headersThatBringKeysAreRefused(name: String) throws {
    let forge = try IssuerForge()
    for value in [#""https://evil.example""#, "[]", "null", #"["exp"]"#] {
      try refused(forge.token(header: [name: value]))
    }
  }

  @Test(
    .bug(id: "S02"),
    arguments: [
      nil, #""""#, "7", "null", "[]", "\"\(String(repeating: "k", count: 257))\"",
    ])
  func aKeysNameIsATextOfBoundedLength(kid: String?) throws {
    try refused(try IssuerForge().token(header: ["kid": kid]))
  }

  @Test func aTokenOfAnotherTypeIsRefused() throws {
    let forge = try IssuerForge()
    for type in [#""at+jwt""#, #""logout+jwt""#, "1"] {
      try refused(forge.token(header: ["typ": type]))
    }
    try refused(forge.token(claims: ["events": "{}"]))
    for type in [#""JWT""#, nil] { _ = try IDToken(forge.token(header: ["typ": type])) }
    _ = try IDToken(forge.token(header: ["x5t": #""a""#]))
  }

  @Test(.bug(id: "S01")) func repeatedMembersAndOtherFormsAreRefused() throws {
    let forge = try IssuerForge()
    try refused(forge.token(claims: [#"x":1,"x"#: "2"]))
    try refused(forge.token(header: [#"x":1,"x"#: "2"]))
    let whole = forge.token()
    for form in ["", ".", "..", whole + ".", whole + "=", "." + whole, whole + "." + whole] {
      try refused(form)
    }
    try refused(forge.token(claims: ["x": "\"\(String(repeating: "x", count: 8_192))\""]))
  }

  @Test(
    .bug(id: "S03"),
    arguments: [
      ["exp": nil], ["iat": nil], ["sub": nil], ["iss": nil], ["aud": nil],
      ["exp": #""1800000300""#],
      ["exp": "1800000300.5"], ["exp": "1e300"], ["exp": "9223372036854775807"], ["exp": "-1"],
      ["nbf": #""1""#], ["nbf": "null"], ["azp": "7"], ["sub": #""""#], ["sub": "7"], ["aud": "[]"],
      ["aud": #"["app",7]"#], ["aud": #"{"app":1}"#], ["iat": "1800000300"],
      ["sub": "\"\(String(repeating: "s", count: 256))\""],
    ] as [[String: String?]])
  func claimsMustBeThereAndOfTheirType(changes: [String: String?]) throws {
    try refused(try IssuerForge().token(claims: changes))
  }

  @Test(
    .bug(id: "S03"),
    arguments: [
      (["aud": #"["app"]"#], true), (["aud": #"["app","web"]"#], false),
      (["aud": #"["app","web"]"#, "azp": #""web""#], true), (["azp": #""app""#], true),
      (["aud": #"["app","other"]"#, "azp": #""app""#], false), (["azp": #""other""#], false),
      (["aud": #""other""#], false), (["aud": #""APP""#], false),
      (["iss": #""https://issuer.example/realm/""#], false),
      (["iss": #""https://issuer.example/Realm""#], false),
      (["nbf": "1800000060"], true), (["nbf": "1800000061"], false),
      (["iat": "1800000060"], true), (["iat": "1800000061"], false),
      (["iat": "1799990000", "exp": "1799999941"], false),
      (["iat": "1799999000", "exp": "1799999941"], true),
      (["iat": "1799999000", "exp": "1799999940"], false),
      // A token older than an hour is refused, even if it has not expired.
      (["iat": "1799996341", "exp": "1800009999"], true),
      (["iat": "1799996340", "exp": "1800009999"], false),
      (["exp": "1800086400"], true), (["exp": "1800086401"], false),
    ] as [([String: String?], Bool)])
  func claimsAreHeldAgainstTheIssuerAndTheClock(
    changes: [String: String?], isGood: Bool
  ) throws {
    let claims = try IDToken(try IssuerForge().token(claims: changes)).claims
    let code: ServiceError.Code?
    do {
      _ = try claims.check(for: IssuerForge.trusted, at: Self.now, age: 3_600, skew: 60)
      code = nil
    } catch let error as ServiceError {
      code = error.code
    }
    #expect(code == (isGood ? nil : .invalidToken))
  }

  @Test(
    .bug(id: "S01"),
    arguments: [
      ("RS256", ["use": #""enc""#]), ("RS256", ["alg": #""RS512""#]), ("RS256", ["kty": #""oct""#]),
      ("RS256", ["alg": #""HS256""#]), ("RS256", ["d": #""AA""#]), ("RS256", ["e": #""AQ""#]),
      ("RS256", ["e": #""Aw""#]), ("RS256", ["e": #""AQAC""#]), ("RS256", ["e": #""AQAAAAAB""#]),
      ("RS256", ["n": #""AQAB""#]), ("RS256", ["kid": nil]), ("RS256", ["key_ops": #"["sign"]"#]),
      ("RS256", ["n": "\"\(String(repeating: "A", count: 342))\""]),
      // 1,024 bits.
      ("RS256", ["n": "\"\(String(repeating: "_", count: 170))w\""]),
      ("ES256", ["crv": #""P-384""#]), ("ES256", ["alg": #""EdDSA""#]), ("ES256", ["x": #""AA""#]),
      ("ES256", ["x": "\"\(String(repeating: "A", count: 43))\""]), ("ES256", ["y": nil]),
      ("EdDSA", ["crv": #""X25519""#]), ("EdDSA", ["x": #""AA""#]), ("EdDSA", ["alg": #""ES256""#]),
    ] as [(String, [String: String?])])
  func keysThatAreNoneOrWeakArePassedOver(
    algorithm: String, changes: [String: String?]
  ) throws {
    let forge = try IssuerForge()
    let set = try IssuerKeySet(
      forge.keySet([forge.key(algorithm, changes), forge.key("EdDSA", kid: "good")]))
    let wanted = try IDToken(forge.token(algorithm)).key
    #expect(set[wanted] == nil)
    let good = try IDToken(forge.token("EdDSA", header: ["kid": #""good""#])).key
    #expect(set[good] != nil)
  }

  @Test(.bug(id: "S01")) func aKeyIsGoodForItsOwnAlgorithmAlone() throws {
    let forge = try IssuerForge()
    let set = try IssuerKeySet(forge.keySet([forge.key("RS256", kid: "k")]))
    for algorithm in ["ES256", "EdDSA"] {
      #expect(set[try IDToken(forge.token(algorithm, header: ["kid": #""k""#])).key] == nil)
    }
    // With two keys of the same id, the right one is not known.
    let twice = try IssuerKeySet(forge.keySet([forge.key("EdDSA"), forge.key("EdDSA")]))
    #expect(twice[try IDToken(forge.token("EdDSA")).key] == nil)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"keys":{}}"#, "<html>", #"{"keys":[],"keys":[]}"#, "\u{FEFF}{}",
    #"{"keys":["# + String(repeating: "{},", count: 100) + "{}]}",
    String(repeating: "[", count: 100_000),
  ])
  func whatIsNoKeySetIsRefused(text: String) {
    #expect(throws: ServiceError.self) { _ = try IssuerKeySet(Array(text.utf8)) }
  }

  private func refused(_ token: String) throws {
    let error = #expect(throws: ServiceError.self) { _ = try IDToken(token) }
    #expect(error?.code == .invalidToken)
    #expect(error?.reason == ServiceError.invalidToken("").reason)
  }
}
