import Stores
import TestSupport
import Testing

@testable import Accounts

/// Changes of passwords: with the present password, or with an operator's token.
@Suite struct PasswordChangeTests {
  private let new = Secret("another horse")

  private func change(
    _ fixture: AccountFixture, _ person: Principal, from current: Secret = AccountFixture.password
  ) async throws -> IssuedToken? {
    try await fixture.service.changePassword(
      of: person, from: current, to: new, at: AccountFixture.home)
  }

  @Test func theOwnSessionGoesOnAndEveryOtherEnds() async throws {
    let fixture = try await AccountFixture.make()
    let other = try await fixture.signUp("demo")
    let own = try await fixture.logIn("demo")
    let changed = try await change(fixture, own.principal)
    let token = try #require(changed)
    let person = try await fixture.service.authenticate(bearer: token.token.exposed)
    #expect(person.tokenID == own.principal.tokenID)
    for session in [own, other] {
      let code = try await failure {
        _ = try await fixture.service.authenticate(bearer: session.token.token.exposed)
      }
      #expect(code == .invalidToken)
    }
    #expect(try await failure { _ = try await fixture.logIn("demo") } == .badCredentials)
    let again = try await fixture.service.logIn(
      username: "demo", password: new, guestToken: nil, from: AccountFixture.home)
    #expect(again.principal.id == own.principal.id)
  }

  @Test func withoutThePresentPasswordNothingChanges() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let wrong = try await failure { _ = try await change(fixture, session.principal, from: new) }
    #expect(wrong == .badCredentials)
    let short = try await failure {
      _ = try await fixture.service.changePassword(
        of: session.principal, from: AccountFixture.password, to: Secret("short"),
        at: AccountFixture.home)
    }
    #expect(short == .invalidPassword)
    _ = try await fixture.service.authenticate(bearer: session.token.token.exposed)
    _ = try await fixture.logIn("demo")
  }

  @Test func whoProvedAPasswordGetsNoToken() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let person = try await fixture.service.authenticate(
      username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    #expect(try await change(fixture, person) == nil)
  }

  @Test func aGuestHasNoPassword() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest().principal
    #expect(try await failure { _ = try await change(fixture, guest) } == .noPassword)
  }

  @Test func ofTwoChangesAtOnceOneWins() async throws {
    let fixture = try await AccountFixture.make()
    let person = try await fixture.signUp("demo").principal
    let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
      for number in 0..<4 {
        group.addTask {
          try await failure {
            _ = try await fixture.service.changePassword(
              of: person, from: AccountFixture.password, to: Secret("horse number \(number)"),
              at: AccountFixture.home)
          }
        }
      }
      var codes: [ServiceError.Code?] = []
      for try await code in group { codes.append(code) }
      return codes
    }
    #expect(codes.count { $0 == nil } == 1)
  }

  @Test func aResetTokenWorksOnce() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let token = try await fixture.service.passwordReset(for: "Demo").token.exposed
    #expect(
      try await failure { _ = try await fixture.service.authenticate(bearer: token) }
        == .invalidToken)
    try await fixture.service.resetPassword(with: token, to: new, at: AccountFixture.home)
    let old = session.token.token.exposed
    #expect(
      try await failure { _ = try await fixture.service.authenticate(bearer: old) } == .invalidToken
    )
    _ = try await fixture.service.logIn(
      username: "demo", password: new, guestToken: nil, from: AccountFixture.home)
    let again = try await failure {
      try await fixture.service.resetPassword(
        with: token, to: AccountFixture.password, at: AccountFixture.home)
    }
    #expect(again == .invalidToken)
  }

  @Test func aResetTokenEndsAfterADayAndWithThePassword() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let first = try await fixture.service.passwordReset(for: "demo").token.exposed
    _ = try await change(fixture, session.principal)
    #expect(
      try await failure {
        try await fixture.service.resetPassword(
          with: first, to: AccountFixture.password, at: AccountFixture.home)
      } == .invalidToken)
    let second = try await fixture.service.passwordReset(for: "demo").token.exposed
    fixture.clock.advance(seconds: 86_400 + fixture.settings.skew)
    #expect(
      try await failure {
        try await fixture.service.resetPassword(
          with: second, to: AccountFixture.password, at: AccountFixture.home)
      } == .expiredToken)
    #expect(
      try await failure { _ = try await fixture.service.passwordReset(for: "nobody") }
        == .unknownUser)
  }

  @Test func aSessionsTokenResetsNothing() async throws {
    let fixture = try await AccountFixture.make()
    let token = try await fixture.signUp("demo").token.token.exposed
    #expect(
      try await failure {
        try await fixture.service.resetPassword(with: token, to: new, at: AccountFixture.home)
      } == .invalidToken)
  }
}
