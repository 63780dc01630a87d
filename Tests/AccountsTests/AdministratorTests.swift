import Documents
import StoreTesting
import Stores
import Testing

@testable import Accounts

/// The administrator whom the configuration names.
struct AdministratorTests {
  private func make() async throws -> AccountFixture {
    try await AccountFixture.make { settings in
      settings.administrator = try Administrator(
        name: "Admin", password: AccountFixture.password, scrypt: settings.scrypt)
    }
  }

  @Test func theAdministratorLogsInByNameAndPassword() async throws {
    let fixture = try await make()
    let principal = try await fixture.service.authenticate(
      username: "admin", password: AccountFixture.password, from: AccountFixture.home)
    #expect(principal.kind == .administrator)
    let session = try await fixture.logIn("ADMIN")
    let byToken = try await fixture.service.authenticate(bearer: session.token.token.exposed)
    #expect(byToken.kind == .administrator)
    #expect(byToken.id == principal.id)
    let wrong = try await failure {
      _ = try await fixture.service.authenticate(
        username: "admin", password: Secret("wrong horse"), from: AccountFixture.home)
    }
    #expect(wrong == .badCredentials)
    #expect(fixture.hashCount == 3)
  }

  @Test func nobodyCanSignUpByTheAdministratorsName() async throws {
    let fixture = try await make()
    let taken = try await failure { _ = try await fixture.signUp("aDMIN") }
    #expect(taken == .taken)
    let added = try await failure {
      _ = try await fixture.service.addUser(username: "admin", password: AccountFixture.password)
    }
    #expect(added == .taken)
  }

  @Test func theAdministratorsTokensEndWithTheProcess() async throws {
    let fixture = try await make()
    let session = try await fixture.logIn("admin")
    let after = try await fixture.restarted()
    let ended = try await failure {
      _ = try await after.service.authenticate(bearer: session.token.token.exposed)
    }
    #expect(ended == .invalidToken)
  }

  @Test func withoutOneInTheConfigurationThereIsNone() async throws {
    let fixture = try await make()
    let session = try await fixture.logIn("admin")
    let after = try await fixture.restarted { $0.administrator = nil }
    let byToken = try await failure {
      _ = try await after.service.authenticate(bearer: session.token.token.exposed)
    }
    #expect(byToken == .invalidToken)
    let byPassword = try await failure { _ = try await after.logIn("admin") }
    #expect(byPassword == .badCredentials)
  }

  @Test(arguments: [
    "short", "", "password", "Password", "PASSWORD1", "changeme", "change-me", "administrator",
    "12345678", "aaaaaaaaaaaa", "hotel-bookmarks", "Operator",
  ])
  func aWeakPasswordIsRefused(password: String) {
    let error = #expect(throws: ServiceError.self) {
      try Administrator(name: "operator", password: Secret(password))
    }
    #expect(error?.code == .invalidPassword)
  }

  @Test(arguments: ["", "a/b", "a:b", "::"])
  func aNameThatNobodyCanHaveIsRefused(name: String) {
    let error = #expect(throws: ServiceError.self) {
      try Administrator(name: name, password: AccountFixture.password)
    }
    #expect(error?.code == .invalidName)
  }

  @Test func theAdministratorsPasswordIsLockedLikeAnybodys() async throws {
    let fixture = try await make()
    var codes: [ServiceError.Code?] = []
    for number in 0..<6 {
      codes.append(
        try await failure {
          _ = try await fixture.service.authenticate(
            username: "admin", password: Secret("wrong horse \(number)"),
            from: AccountFixture.home)
        })
    }
    #expect(codes.prefix(5).allSatisfy { $0 == .badCredentials })
    #expect(codes.last == .lockedOut)
    // From another address the right password still works.
    _ = try await fixture.service.authenticate(
      username: "admin", password: AccountFixture.password, from: AccountFixture.abroad)
  }

  @Test func nothingOfTheAdministratorIsErased() async throws {
    let fixture = try await make()
    let session = try await fixture.logIn("admin")
    try await fixture.service.erase(session.principal)
    #expect(try await fixture.service.isStillValid(session.principal))
    #expect(fixture.engine.tally.created == 0)
  }

  /// One unreadable account ended the listing of all that come behind it.
  @Test func listingHasAllAccountsBesideAnUnreadableOne() async throws {
    let fixture = try await AccountFixture.make()
    for name in ["ann", "ben", "cid", "dan"] { _ = try await fixture.signUp(name) }
    let damaged = try await fixture.restarted(
      without: [AccountKeys.user(try UserName("ben")).text])
    for order in [nil, UserOrder.name] {
      var (names, last): ([String?], String?) = ([], nil)
      repeat {
        let page = try #require(
          try await damaged.service.users(in: order, after: last, limit: 1))
        names += page.users.map(\.name)
        last = page.next
      } while last != nil
      #expect(names.count == 4 && Set(names) == ["ann", nil, "cid", "dan"])
    }
  }
}
