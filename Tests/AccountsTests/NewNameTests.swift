import Stores
import Testing

@testable import Accounts

/// Names by PRECIS' profile UsernameCaseMapped (RFC 8265).
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
      #expect(try await fixture.service.accountID(ofUser: name) == user.id)
    }
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
