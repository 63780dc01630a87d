import Documents
import StoreTesting
import Stores
import Testing

@testable import Accounts

struct SignUpTests {
  @Test func aUserHasAStoreOfARandomName() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("guest")
    #expect(session.principal.kind == .user)
    #expect(session.principal.username == "guest")
    #expect(session.principal.store == .user(session.principal.id))
    #expect(try await fixture.service.accountID(ofUser: "GUEST") == session.principal.id)
    #expect(try await fixture.service.accountID(ofUser: "nobody") == nil)
    #expect(try await fixture.service.accountID(ofUser: "../x") == nil)
  }

  @Test func aNameInOtherLettersIsTaken() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("Demo")
    let taken = try await failure { _ = try await fixture.signUp("dEMO") }
    #expect(taken == .taken)
    #expect(try await fixture.logIn("DEMO").principal.username == "Demo")
  }

  @Test(.bug(id: "H15")) func twoSpellingsOfAnAccentAreOneUser() async throws {
    let fixture = try await AccountFixture.make()
    let composed = try await fixture.signUp("caf\u{E9}")
    let taken = try await failure { _ = try await fixture.signUp("cafe\u{301}") }
    #expect(taken == .taken)
    #expect(try await fixture.logIn("CAFE\u{301}").principal.id == composed.principal.id)
  }

  /// Names that look like another name, or like none, are refused.
  @Test(
    .bug(id: "H15"),
    arguments: [
      "de\u{200B}mo", "de\u{200D}mo", "de\u{200C}mo", "\u{FEFF}demo", "de\u{AD}mo", "demo\u{2060}",
      "de\u{34F}mo", "demo\u{FE0F}", "\u{E0064}demo", "\u{3164}a", "a\u{115F}", "\u{600}1",
      "de\u{A0}mo", "de\u{3000}mo", "de\u{2009}mo", "de\u{202F}mo", "de\u{2800}mo",
      " demo", "demo ", "demo  user", "de\u{202E}mo", "de\u{2066}mo",
    ])
  func namesThatCantBeToldApartAreRefused(name: String) async throws {
    let fixture = try await AccountFixture.make()
    let refused = try await failure { _ = try await fixture.signUp(name) }
    #expect(refused == .invalidName)
    let byCommand = try await failure {
      _ = try await fixture.service.addUser(username: name, password: AccountFixture.password)
    }
    #expect(byCommand == .invalidName)
    #expect(fixture.hashCount == 0)
  }

  @Test(.bug(id: "H15")) func theReasonNamesTheCharacter() {
    func reason(_ name: String) -> String? {
      do { _ = try UserName(ofNewcomer: name) } catch { return ServiceError(error)?.reason }
      return nil
    }
    #expect(reason("a\u{200D}b") == "A name must not contain invisible characters: U+200D.")
    #expect(reason("a\u{A0}b") == "A name must not contain spaces other than U+0020: U+00A0.")
  }

  @Test(
    .bug(id: "H15"),
    arguments: ["Demo User", "caf\u{E9}", "名前 二", "ab c d", "\u{E01}\u{E32}", "नमस्ते"])
  func namesInOtherScriptsAreTaken(name: String) async throws {
    let fixture = try await AccountFixture.make()
    #expect(try await fixture.signUp(name).principal.username == name)
  }

  @Test func ofManyWhoAskForANameOneGetsIt() async throws {
    let fixture = try await AccountFixture.make()
    let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
      for index in 0..<20 {
        group.addTask {
          try await failure {
            _ = try await fixture.signUp(index.isMultiple(of: 2) ? "demo" : "DEMO")
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == nil } == 1)
    #expect(codes.count { $0 == .taken } == 19)
  }

  @Test(.bug(id: "S10")) func passwordsHaveEightTo1024Bytes() async throws {
    let fixture = try await AccountFixture.make()
    for (index, (password, expected))
      in ([
        ("", ServiceError.Code.invalidPassword), ("1234567", .invalidPassword), ("12345678", nil),
        (String(repeating: "é", count: 4), nil), (String(repeating: "p", count: 1_024), nil),
        (String(repeating: "p", count: 1_025), .invalidPassword),
        (String(repeating: "p", count: 1 << 20), .invalidPassword),
        ("1234\u{0}5678", .invalidPassword),
      ] as [(String, ServiceError.Code?)]).enumerated()
    {
      let result = try await failure {
        _ = try await fixture.service.signUp(
          username: "user\(index)", password: Secret(password), guest: nil,
          from: AccountFixture.home)
      }
      #expect(result == expected, "\(password.utf8.count) bytes")
    }
  }

  @Test func aTakenNameCostsNoHash() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let before = fixture.hashCount
    _ = try await failure { _ = try await fixture.signUp("demo") }
    #expect(fixture.hashCount == before)
  }

  @Test func theCommandLineMakesUsersWhoCanLogIn() async throws {
    let fixture = try await AccountFixture.make()
    let id = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    #expect(try await fixture.logIn("demo").principal.id == id)
  }

  @Test func aStoreThatFailsIsSaidSo() async throws {
    let fixture = try await AccountFixture.make()
    fixture.engine.setDamaged(.system)
    do {
      _ = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
      Issue.record("A user was made in a damaged store")
    } catch let error as ServiceError {
      #expect(error.code == .damaged)
    }
  }

  @Test func neitherNameNorPasswordStandsInAnyDocument() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("canary-name")
    let bodies = try await fixture.manager.withExisting(.system) { store in
      try await store.read { view in
        var texts: [String] = []
        try view.documents(DocumentRange(includesDeleted: true)) { document in
          texts.append(document.id.text + String(decoding: document.body, as: UTF8.self))
          return true
        }
        return texts
      }
    }
    #expect(bodies.count == 1)
    #expect(!bodies.contains { $0.contains("canary") || $0.contains("scrypt") })
  }
}
