import Documents
import StoreTesting
import Stores
import Testing

@testable import Accounts

/// The one whom the configuration names.
struct AdministratorTests {
  private func make() async throws -> Rig {
    try await Rig.make { settings in
      settings.administrator = try Administrator(
        name: "Admin", password: Rig.password, scrypt: settings.scrypt)
    }
  }

  @Test func theAdministratorLogsInByNameAndPassword() async throws {
    let rig = try await make()
    let principal = try await rig.service.authenticate(
      username: "admin", password: Rig.password, from: Rig.home)
    #expect(principal.kind == .administrator)
    let session = try await rig.logIn("ADMIN")
    let byToken = try await rig.service.authenticate(bearer: session.token.token.exposed)
    #expect(byToken.kind == .administrator)
    #expect(byToken.id == principal.id)
    let wrong = try await failure {
      _ = try await rig.service.authenticate(
        username: "admin", password: Secret("wrong horse"), from: Rig.home)
    }
    #expect(wrong == .badCredentials)
    #expect(rig.hashCount == 3)
  }

  @Test func nobodyCanSignUpByTheAdministratorsName() async throws {
    let rig = try await make()
    let taken = try await failure { _ = try await rig.signUp("aDMIN") }
    #expect(taken == .taken)
    let added = try await failure {
      _ = try await rig.service.addUser(username: "admin", password: Rig.password)
    }
    #expect(added == .taken)
  }

  @Test func theAdministratorsTokensEndWithTheProcess() async throws {
    let rig = try await make()
    let session = try await rig.logIn("admin")
    let after = try await rig.restarted()
    let ended = try await failure {
      _ = try await after.service.authenticate(bearer: session.token.token.exposed)
    }
    #expect(ended == .invalidToken)
  }

  @Test func withoutOneInTheConfigurationThereIsNone() async throws {
    let rig = try await make()
    let session = try await rig.logIn("admin")
    let after = try await rig.restarted { $0.administrator = nil }
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
    let error = #expect(throws: AccountError.self) {
      try Administrator(name: "operator", password: Secret(password))
    }
    #expect(error?.code == .invalidPassword)
  }

  @Test(arguments: ["", "a/b", "a:b", "::"])
  func aNameThatNobodyCanHaveIsRefused(name: String) {
    let error = #expect(throws: AccountError.self) {
      try Administrator(name: name, password: Rig.password)
    }
    #expect(error?.code == .invalidName)
  }

  @Test func theAdministratorsPasswordIsLockedLikeAnybodys() async throws {
    let rig = try await make()
    var codes: [AccountError.Code?] = []
    for _ in 0..<6 {
      codes.append(
        try await failure {
          _ = try await rig.service.authenticate(
            username: "admin", password: Secret("wrong horse"), from: Rig.home)
        })
    }
    #expect(codes.prefix(5).allSatisfy { $0 == .badCredentials })
    #expect(codes.last == .lockedOut)
    // From elsewhere the right one still works.
    _ = try await rig.service.authenticate(
      username: "admin", password: Rig.password, from: Rig.abroad)
  }

  @Test func nothingOfTheAdministratorIsErased() async throws {
    let rig = try await make()
    let session = try await rig.logIn("admin")
    try await rig.service.erase(session.principal)
    #expect(try await rig.service.isStillGood(session.principal))
    #expect(rig.engine.tally.created == 0)
  }
}
