import Documents
import StoreTesting
import Stores
import Testing

@testable import Accounts

/// What becomes of a session: renewal, log-out, restarts.
struct SessionTests {
  @Test func loggingOutEndsTheTokenAtOnce() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let token = session.token.token.exposed
    let principal = try await rig.service.authenticate(bearer: token)
    #expect(principal == session.principal)
    #expect(try await rig.service.isStillGood(principal))
    try await rig.service.logOut(principal)
    let ended = try await failure { _ = try await rig.service.authenticate(bearer: token) }
    #expect(ended == .invalidToken)
    #expect(try await !rig.service.isStillGood(principal))
  }

  @Test func aLogOutSurvivesARestart() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    let other = try await rig.guest()
    try await rig.service.logOut(guest.principal)
    let after = try await rig.restarted()
    let ended = try await failure { _ = try await after.service.authenticate(bearer: guest.token) }
    #expect(ended == .invalidToken)
    #expect(try await after.service.authenticate(bearer: other.token) == other.principal)
  }

  @Test func loggingOutEndsOneSessionOnly() async throws {
    let rig = try await Rig.make()
    let first = try await rig.signUp("demo")
    let second = try await rig.logIn("demo")
    try await rig.service.logOut(first.principal)
    let principal = try await rig.service.authenticate(bearer: second.token.token.exposed)
    #expect(principal.id == first.principal.id)
    #expect(try await rig.service.isStillGood(principal))
  }

  @Test func loggingOutEndsEveryRenewalOfTheSession() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    rig.clock.advance(seconds: 2 * 86_400)
    let renewed = try #require(await rig.service.renewed(session.principal))
    let principal = try await rig.service.authenticate(bearer: renewed.token.exposed)
    #expect(principal.tokenID == session.principal.tokenID)
    try await rig.service.logOut(principal)
    for token in [session.token, renewed] {
      let ended = try await failure {
        _ = try await rig.service.authenticate(bearer: token.token.exposed)
      }
      #expect(ended == .invalidToken)
    }
  }

  @Test func aTokenIsRenewedOnceADayOfItIsGone() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    rig.clock.advance(seconds: rig.settings.renewalAge - 1)
    #expect(await rig.service.renewed(guest.principal) == nil)
    rig.clock.advance(seconds: 1)
    let renewed = try #require(await rig.service.renewed(guest.principal))
    #expect(renewed.expiresAt == rig.clock.now.adding(seconds: rig.settings.guestLifetime))
    let principal = try await rig.service.authenticate(bearer: renewed.token.exposed)
    #expect(principal.id == guest.principal.id)
    #expect(principal.store == guest.principal.store)
  }

  @Test func aPrincipalByPasswordHasNoTokenToRenewOrEnd() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    let principal = try await rig.service.authenticate(
      username: "demo", password: Rig.password, from: Rig.home)
    #expect(await rig.service.renewed(principal) == nil)
    try await rig.service.logOut(principal)
    #expect(try await rig.service.isStillGood(principal))
  }

  @Test func aPrincipalStopsBeingGoodWhenItsTokenEnds() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    #expect(try await rig.service.isStillGood(guest.principal))
    rig.clock.advance(seconds: rig.settings.guestLifetime + rig.settings.skew)
    #expect(try await !rig.service.isStillGood(guest.principal))
  }

  @Test func aNewPasswordEndsEverySession() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let token = session.token.token.exposed
    _ = try await rig.service.authenticate(bearer: token)
    _ = try await rig.service.authenticate(
      username: "demo", password: Rig.password, from: Rig.home)
    let new = Secret("another horse")
    try await rig.service.changePassword(username: "Demo", password: new)
    let byToken = try await failure { _ = try await rig.service.authenticate(bearer: token) }
    #expect(byToken == .invalidToken)
    let byPassword = try await failure {
      _ = try await rig.service.authenticate(
        username: "demo", password: Rig.password, from: Rig.home)
    }
    #expect(byPassword == .badCredentials)
    let again = try await rig.service.logIn(
      username: "demo", password: new, guestToken: nil, from: Rig.home)
    #expect(again.principal.id == session.principal.id)
    let unknown = try await failure {
      try await rig.service.changePassword(username: "nobody", password: new)
    }
    #expect(unknown == .unknownUser)
  }

  @Test func aGuestIsMadeWithoutAStore() async throws {
    let rig = try await Rig.make()
    for _ in 0..<100 { _ = try await rig.guest() }
    #expect(rig.engine.tally.created == 0)
  }

  @Test func s08GuestsFromOnePrefixAreLimited() async throws {
    let rig = try await Rig.make { $0.guestsPerHour = 10 }
    func make(_ address: String) async throws -> AccountError.Code? {
      try await failure { _ = try await rig.service.createGuest(from: ClientAddress(address)) }
    }
    for host in 1...5 { #expect(try await make("2001:db8::\(host)") == nil) }
    #expect(try await make("2001:db8::ffff") == .tooMany)
    #expect(try await make("2001:db8:0:1::1") == nil)
    #expect(rig.engine.tally.created == 0)
  }
}
