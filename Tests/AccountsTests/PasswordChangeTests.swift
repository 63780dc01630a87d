import Stores
import Testing

@testable import Accounts

/// People choose another password: with the one they have, or with a token of the operator's.
@Suite struct PasswordChangeTests {
  private let new = Secret("another horse")

  private func change(
    _ rig: Rig, _ person: Principal, from current: Secret = Rig.password
  ) async throws -> IssuedToken? {
    try await rig.service.changePassword(of: person, from: current, to: new, at: Rig.home)
  }

  @Test func theOwnSessionGoesOnAndEveryOtherEnds() async throws {
    let rig = try await Rig.make()
    let other = try await rig.signUp("demo")
    let own = try await rig.logIn("demo")
    let changed = try await change(rig, own.principal)
    let token = try #require(changed)
    let person = try await rig.service.authenticate(bearer: token.token.exposed)
    #expect(person.tokenID == own.principal.tokenID)
    for session in [own, other] {
      let code = try await failure {
        _ = try await rig.service.authenticate(bearer: session.token.token.exposed)
      }
      #expect(code == .invalidToken)
    }
    #expect(try await failure { _ = try await rig.logIn("demo") } == .badCredentials)
    let again = try await rig.service.logIn(
      username: "demo", password: new, guestToken: nil, from: Rig.home)
    #expect(again.principal.id == own.principal.id)
  }

  @Test func withoutThePresentPasswordNothingChanges() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let wrong = try await failure { _ = try await change(rig, session.principal, from: new) }
    #expect(wrong == .badCredentials)
    let short = try await failure {
      _ = try await rig.service.changePassword(
        of: session.principal, from: Rig.password, to: Secret("short"), at: Rig.home)
    }
    #expect(short == .invalidPassword)
    _ = try await rig.service.authenticate(bearer: session.token.token.exposed)
    _ = try await rig.logIn("demo")
  }

  @Test func whoProvedAPasswordGetsNoToken() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    let person = try await rig.service.authenticate(
      username: "demo", password: Rig.password, from: Rig.home)
    #expect(try await change(rig, person) == nil)
  }

  @Test func aGuestHasNoPassword() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest().principal
    #expect(try await failure { _ = try await change(rig, guest) } == .noPassword)
  }

  @Test func ofTwoChangesAtOnceOneWins() async throws {
    let rig = try await Rig.make()
    let person = try await rig.signUp("demo").principal
    let codes = try await withThrowingTaskGroup(of: AccountError.Code?.self) { group in
      for number in 0..<4 {
        group.addTask {
          try await failure {
            _ = try await rig.service.changePassword(
              of: person, from: Rig.password, to: Secret("horse number \(number)"), at: Rig.home)
          }
        }
      }
      var codes: [AccountError.Code?] = []
      for try await code in group { codes.append(code) }
      return codes
    }
    #expect(codes.count { $0 == nil } == 1)
  }

  @Test func aResetTokenWorksOnce() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let token = try await rig.service.passwordReset(for: "Demo").token.exposed
    #expect(
      try await failure { _ = try await rig.service.authenticate(bearer: token) }
        == .invalidToken)
    try await rig.service.resetPassword(with: token, to: new, at: Rig.home)
    let old = session.token.token.exposed
    #expect(
      try await failure { _ = try await rig.service.authenticate(bearer: old) } == .invalidToken)
    _ = try await rig.service.logIn(
      username: "demo", password: new, guestToken: nil, from: Rig.home)
    let again = try await failure {
      try await rig.service.resetPassword(with: token, to: Rig.password, at: Rig.home)
    }
    #expect(again == .invalidToken)
  }

  @Test func aResetTokenEndsAfterADayAndWithThePassword() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let first = try await rig.service.passwordReset(for: "demo").token.exposed
    _ = try await change(rig, session.principal)
    #expect(
      try await failure {
        try await rig.service.resetPassword(with: first, to: Rig.password, at: Rig.home)
      } == .invalidToken)
    let second = try await rig.service.passwordReset(for: "demo").token.exposed
    rig.clock.advance(seconds: 86_400 + rig.settings.skew)
    #expect(
      try await failure {
        try await rig.service.resetPassword(with: second, to: Rig.password, at: Rig.home)
      } == .expiredToken)
    #expect(
      try await failure { _ = try await rig.service.passwordReset(for: "nobody") } == .unknownUser)
  }

  @Test func aSessionsTokenResetsNothing() async throws {
    let rig = try await Rig.make()
    let token = try await rig.signUp("demo").token.token.exposed
    #expect(
      try await failure {
        try await rig.service.resetPassword(with: token, to: new, at: Rig.home)
      } == .invalidToken)
  }
}
