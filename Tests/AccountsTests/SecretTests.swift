import Documents
import Stores
import Testing

@testable import Accounts

/// Secrets are never printed by accident.
struct SecretTests {
  @Test(.bug(id: "S14")) func aSecretPrintsNowhere() async throws {
    let canary = "canary-4711"
    let secret = Secret(canary)
    var dumped = ""
    dump(secret, to: &dumped)
    dump(IssuedToken(token: secret, expiresAt: .init(milliseconds: 0)), to: &dumped)
    dump(try Administrator(name: "admin", password: secret), to: &dumped)
    let texts = [
      "\(secret)", secret.debugDescription, String(describing: secret), String(reflecting: secret),
      "\([secret])", "\(Optional(secret) as Any)",
      "\(IssuedToken(token: secret, expiresAt: .init(milliseconds: 0)))", dumped,
    ]
    #expect(!texts.contains { $0.contains("canary") })
    #expect(secret.exposed == canary)
  }

  @Test(.bug(id: "S14")) func noKeyPrints() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    var text = "\(forge.key)" + String(reflecting: forge.key)
    dump(forge.key, to: &text)
    dump(fixture.keys, to: &text)
    #expect(!text.contains(forge.key.secret.exposed))
  }

  @Test(.bug(id: "S14")) func anErrorNamesNeitherUserNorPassword() async throws {
    let fixture = try await AccountFixture.make()
    do {
      _ = try await fixture.service.logIn(
        username: "canary-name", password: Secret("canary-password"), guestToken: nil,
        from: AccountFixture.home)
      Issue.record("Nobody was let in")
    } catch let error as ServiceError {
      #expect(!(error.reason + error.debugDescription).contains("canary"))
    }
  }

  @Test func secretsCompareByBytes() {
    #expect(Secret("abc") == Secret("abc"))
    #expect(Secret("abc") != Secret("abd"))
    #expect(Secret("abc") != Secret("abcd"))
    #expect(Secret("\u{E9}") != Secret("e\u{301}"))
  }
}
