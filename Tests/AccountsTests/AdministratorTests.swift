import Documents
import Stores
import Testing

@testable import Accounts

/// The one whom the configuration names.
struct AdministratorTests {
  private func make() async throws -> Rig {
    try await Rig.make { settings in
      settings.administrator = try Administrator(name: "Admin", password: Rig.password)
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

  @Test(arguments: ["short", ""])
  func aWeakPasswordIsRefused(password: String) {
    #expect(throws: AccountError.self) {
      try Administrator(name: "admin", password: Secret(password))
    }
  }
}
