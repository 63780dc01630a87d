import Documents
import IPAddresses
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Accounts

/// Renewal and log-out of sessions, and sessions after a restart.
struct SessionTests {
  @Test func loggingOutEndsTheTokenAtOnce() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let token = session.token.token.exposed
    let principal = try await fixture.service.authenticate(bearer: token)
    #expect(principal == session.principal)
    #expect(try await fixture.service.isStillValid(principal))
    try await fixture.service.logOut(principal)
    let ended = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
    #expect(ended == .invalidToken)
    #expect(try await !fixture.service.isStillValid(principal))
  }

  @Test func aLogOutSurvivesARestart() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    let other = try await fixture.guest()
    try await fixture.service.logOut(guest.principal)
    let after = try await fixture.restarted()
    let ended = try await failure { _ = try await after.service.authenticate(bearer: guest.token) }
    #expect(ended == .invalidToken)
    #expect(try await after.service.authenticate(bearer: other.token) == other.principal)
  }

  @Test func loggingOutEndsOneSessionOnly() async throws {
    let fixture = try await AccountFixture.make()
    let first = try await fixture.signUp("demo")
    let second = try await fixture.logIn("demo")
    try await fixture.service.logOut(first.principal)
    let principal = try await fixture.service.authenticate(bearer: second.token.token.exposed)
    #expect(principal.id == first.principal.id)
    #expect(try await fixture.service.isStillValid(principal))
  }

  @Test func loggingOutEndsEveryRenewalOfTheSession() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    fixture.clock.advance(seconds: 2 * 86_400)
    let renewed = try #require(await fixture.service.renewed(session.principal))
    let principal = try await fixture.service.authenticate(bearer: renewed.token.exposed)
    #expect(principal.tokenID == session.principal.tokenID)
    try await fixture.service.logOut(principal)
    for token in [session.token, renewed] {
      let ended = try await failure {
        _ = try await fixture.service.authenticate(bearer: token.token.exposed)
      }
      #expect(ended == .invalidToken)
    }
  }

  @Test func aTokenIsRenewedOnceADayOfItIsGone() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    fixture.clock.advance(seconds: fixture.settings.renewalAge - 1)
    #expect(await fixture.service.renewed(guest.principal) == nil)
    fixture.clock.advance(seconds: 1)
    let renewed = try #require(await fixture.service.renewed(guest.principal))
    #expect(renewed.expiresAt == fixture.clock.now.adding(seconds: fixture.settings.guestLifetime))
    let principal = try await fixture.service.authenticate(bearer: renewed.token.exposed)
    #expect(principal.id == guest.principal.id)
    #expect(principal.store == guest.principal.store)
  }

  @Test func aPrincipalByPasswordHasNoTokenToRenewOrEnd() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let principal = try await fixture.service.authenticate(
      username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    #expect(await fixture.service.renewed(principal) == nil)
    try await fixture.service.logOut(principal)
    #expect(try await fixture.service.isStillValid(principal))
  }

  @Test func aPrincipalStopsBeingGoodWhenItsTokenEnds() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    #expect(try await fixture.service.isStillValid(guest.principal))
    fixture.clock.advance(seconds: fixture.settings.guestLifetime + fixture.settings.skew)
    #expect(try await !fixture.service.isStillValid(guest.principal))
  }

  @Test func aNewPasswordEndsEverySession() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let token = session.token.token.exposed
    _ = try await fixture.service.authenticate(bearer: token)
    _ = try await fixture.service.authenticate(
      username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    let new = Secret("another horse")
    try await fixture.service.changePassword(username: "Demo", password: new)
    let byToken = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
    #expect(byToken == .invalidToken)
    let byPassword = try await failure {
      _ = try await fixture.service.authenticate(
        username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    }
    #expect(byPassword == .badCredentials)
    let again = try await fixture.service.logIn(
      username: "demo", password: new, guestToken: nil, from: AccountFixture.home)
    #expect(again.principal.id == session.principal.id)
    let unknown = try await failure {
      try await fixture.service.changePassword(username: "nobody", password: new)
    }
    #expect(unknown == .unknownUser)
  }

  @Test func aGuestIsMadeWithoutAStore() async throws {
    let fixture = try await AccountFixture.make()
    for _ in 0..<100 { _ = try await fixture.guest() }
    #expect(fixture.engine.tally.created == 0)
  }

  @Test(.bug(id: "S08")) func guestsFromOnePrefixAreLimited() async throws {
    let fixture = try await AccountFixture.make { $0.guestsPerHour = 10 }
    func make(_ address: String) async throws -> ServiceError.Code? {
      try await failure { _ = try await fixture.service.createGuest(from: ClientAddress(address)) }
    }
    for host in 1...5 { #expect(try await make("2001:db8::\(host)") == nil) }
    #expect(try await make("2001:db8::ffff") == .tooMany)
    #expect(try await make("2001:db8:0:1::1") == nil)
    #expect(fixture.engine.tally.created == 0)
  }
}
