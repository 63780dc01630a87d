import Stores
import TestSupport
import Testing

@testable import Accounts

/// Tokens with a correct signature and wrong claims.
struct TokenClaimTests {
  @Test(
    .bug(id: "S03"),
    arguments: [
      ["exp": nil], ["exp": "null"], ["exp": #""9999999999""#], ["exp": "1800000100.5"],
      ["exp": "1.8000001e9"], ["exp": "1e300"], ["exp": "-1"], ["exp": "99999999999999999999"],
      ["exp": "9223372036854775807"], ["exp": "true"], ["exp": "[1800000100]"],
      ["iat": nil], ["iat": #""1800000000""#], ["nbf": nil], ["nbf": "1800000000.0"],
      ["iat": "1808380861", "nbf": "1808380861", "exp": "1808380900"], ["iat": "1800000001"],
      ["nbf": "1808380861", "exp": "1808380900"],
      ["iat": "-5"], ["iat": "9223372036854775807", "nbf": "9223372036854775807"],
      ["iss": nil], ["iss": #""somebody-else""#], ["iss": #"["hotel-bookmarks"]"#],
      ["aud": nil], ["aud": #""somebody-else""#], ["aud": #"["hotel-bookmarks"]"#],
      ["aud": #"["hotel-bookmarks","other"]"#],
      ["sub": nil], ["sub": #""../x""#], ["sub": #""00112233445566778899AABBCCDDEEFF""#],
      ["sid": nil], ["sid": #""x""#], ["jti": nil], ["jti": "1"], ["epoch": nil],
      ["epoch": #""0""#], ["kind": nil], ["kind": #""root""#], ["kind": #""Guest""#],
      ["kind": #""user""#], ["name": #""demo""#], ["auth_time": nil],
    ] as [[String: String?]])
  func wrongClaimsAreInvalid(changes: [String: String?]) async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let token = forge.token(claims: forge.claims(changes))
    let code = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
    #expect(code == .invalidToken)
  }

  @Test(.bug(id: "S03"), arguments: ["", "null", "[]", "{}", "{", "1"])
  func claimsThatAreNoObjectAreInvalid(claims: String) async throws {
    let fixture = try await AccountFixture.make()
    let token = try TokenForge(fixture).token(claims: claims)
    let code = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
    #expect(code == .invalidToken)
  }

  @Test(.bug(id: "S03")) func aTokenEndsAMinuteAfterItsTime() async throws {
    let fixture = try await AccountFixture.make()
    let token = try TokenForge(fixture).token()
    fixture.clock.advance(seconds: 86_400 + 59)
    #expect(try await fixture.service.authenticate(bearer: token).kind == .guest)
    fixture.clock.advance(seconds: 1)
    // The token is cached as verified, but its expiry is still checked.
    let first = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
    #expect(first == .expiredToken)
  }

  @Test func aTokenMayNotLiveLongerThanItsKind() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    let most = forge.now + fixture.settings.guestLifetime
    let longest = forge.token(claims: forge.claims(["exp": "\(most)"]))
    #expect(try await fixture.service.authenticate(bearer: longest).kind == .guest)
    let longer = forge.token(claims: forge.claims(["exp": "\(most + 1)"]))
    let code = try await failure { _ = try await fixture.service.authenticate(bearer: longer) }
    #expect(code == .invalidToken)
  }

  @Test func aTokenForNobodysNameIsInvalid() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    for name in ["nobody", "../x", ""] {
      let claims = forge.claims(["kind": #""user""#, "name": "\"\(name)\""])
      let code = try await failure {
        _ = try await fixture.service.authenticate(bearer: forge.token(claims: claims))
      }
      #expect(code == .invalidToken)
    }
  }

  @Test func noTokenMakesAnAdministrator() async throws {
    let fixture = try await AccountFixture.make { settings in
      settings.administrator = try Administrator(name: "admin", password: Secret("letmein99"))
    }
    let forge = try TokenForge(fixture)
    let id = try #require(fixture.settings.administrator?.id)
    let claims = forge.claims([
      "kind": #""administrator""#, "name": #""admin""#, "sub": "\"\(id)\"", "epoch": "0",
    ])
    let code = try await failure {
      _ = try await fixture.service.authenticate(bearer: forge.token(claims: claims))
    }
    #expect(code == .invalidToken)
  }
}
