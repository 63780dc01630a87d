import Stores
import Testing

@testable import Accounts

/// New names by PRECIS' profile UsernameCaseMapped (RFC 8265), together with older names.
struct NewNameTests {
  @Test(arguments: [
    ("Demo", "demo"), ("ｄｅｍｏ", "demo"), ("ＤＥＭＯ", "demo"), ("ｶﾞ", "\u{30AC}"), ("ß", "ß"),
    ("ΣΑΣ", "σασ"), ("CAFE\u{301}", "caf\u{E9}"), ("l·l", "l·l"),
    ("\u{5D0}\u{5F3}", "\u{5D0}\u{5F3}"),
    ("\u{30A2}\u{30FB}\u{30A2}", "\u{30A2}\u{30FB}\u{30A2}"),
    ("\u{5D0}\u{5D1}1", "\u{5D0}\u{5D1}1"),
    ("a!b", "a!b"), ("Two Words", "two words"),
  ])
  func newNameIsKeptAsTheProfileMapsIt(name: String, key: String) throws {
    #expect(try UserName(ofNewcomer: name).key.utf8.elementsEqual(key.utf8))
    // The name as it is shown is the same name.
    let shown = try UserName(ofNewcomer: name).text
    #expect(try UserName(shown) == UserName(ofNewcomer: name))
  }

  @Test(arguments: [
    "a👍", "a\u{2122}", "\u{FB01}le", "\u{2160}", "x\u{338}/", "\u{1113}\u{1161}", "a\u{640}b",
    "a·b", "·", "\u{375}a", "a\u{5F3}", "a\u{30FB}b", "\u{628}\u{661}\u{6F1}", "\u{E01}\u{E33}",
    // Words with letters of both directions, and one that begins with a digit.
    "a\u{5D0}", "\u{5D0}a", "1\u{5D0}", "\u{5D0}\u{661}1", "\u{378}a", "\u{FF0F}a",
  ])
  func nameOutsideTheIdentifierClassIsRefused(name: String) {
    #expect(throws: ServiceError.self) { try UserName(ofNewcomer: name) }
  }

  @Test func nameThatMapsToATakenOneIsTakenAndLogsIn() async throws {
    let fixture = try await AccountFixture.make()
    let user = try await fixture.signUp("Ｄｅｍｏ").principal
    #expect(user.username == "Demo")
    #expect(try await failure { _ = try await fixture.signUp("demo") } == .taken)
    #expect(try await failure { _ = try await fixture.signUp("ｄｅｍｏ") } == .taken)
    for name in ["demo", "DEMO", "Ｄｅｍｏ"] {
      #expect(try await fixture.logIn(name).principal.id == user.id)
    }
  }

  @Test func nameOfBeforeGoesOnAndIsNoOneElses() async throws {
    let fixture = try await AccountFixture.make()
    let hash = try await fixture.service.hashing.hash(
      PasswordRule.normalized(AccountFixture.password))
    let old = fixture.service.newUser()
    _ = try await fixture.service.accounts.create(UserName("ｏｌｄ"), old, password: hash)
    let both = fixture.service.newUser()
    _ = try await fixture.service.accounts.create(UserName("ｂｏｔｈ"), both, password: hash)
    let plain = fixture.service.newUser()
    _ = try await fixture.service.accounts.create(UserName("both"), plain, password: hash)
    try await fixture.service.prepareNames()

    #expect(try await failure { _ = try await fixture.signUp("old") } == .taken)
    #expect(try await failure { _ = try await fixture.signUp("ｏｌｄ") } == .taken)
    #expect(try await fixture.logIn("ｏｌｄ").principal.id == old.id)
    // Two older accounts whose names would now be the same stay separate.
    #expect(try await fixture.logIn("ｂｏｔｈ").principal.id == both.id)
    #expect(try await fixture.logIn("both").principal.id == plain.id)

    // The name is free after its owner's erasure.
    try await fixture.service.erase(try await fixture.logIn("ｏｌｄ").principal)
    #expect(try await fixture.signUp("old").principal.username == "old")
  }

  @Test(arguments: ["adrnin", "\u{430}dmin", "ADMIN", "ａｄｍｉｎ", "adm\u{131}n"])
  func nameThatLooksLikeTheAdministratorsIsTaken(name: String) async throws {
    let fixture = try await AccountFixture.make {
      let hash = try #require(PasswordHash(of: AccountFixture.password, $0.scrypt))
      $0.administrator = try Administrator(name: "admin", password: hash)
    }
    #expect(try await failure { _ = try await fixture.signUp(name) } == .taken)
    #expect(try await failure { _ = try await fixture.signUp("admiral") } == nil)
  }
}
