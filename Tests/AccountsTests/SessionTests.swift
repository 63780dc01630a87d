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

  @Test func aSessionEndsAYearAfterItsLogInHoweverOftenItIsUsed() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let end = fixture.clock.now.adding(seconds: fixture.settings.sessionLifetime)
    var token = session.token
    while fixture.clock.now < end {
      let principal = try await fixture.service.authenticate(bearer: token.token.exposed)
      #expect(principal.tokenID == session.principal.tokenID)
      #expect(token.expiresAt <= end)
      token = await fixture.service.renewed(principal) ?? token
      fixture.clock.advance(seconds: 5 * 86_400)
    }
    #expect(token.expiresAt == end)
    fixture.clock.advance(seconds: fixture.settings.skew)
    let ended = try await failure {
      _ = try await fixture.service.authenticate(bearer: token.token.exposed)
    }
    #expect(ended == .expiredToken)
  }

  @Test func aClockThatIsSetBackLocksNobodyOutAndBringsNoSessionBack() async throws {
    let fixture = try await AccountFixture.make()
    let (settings, clock) = (fixture.settings, fixture.clock)
    for lifetime in [settings.userLifetime, settings.guestLifetime] {
      let isUser = lifetime == settings.userLifetime
      var sessions: [String] = []
      for name in ["demo", "other"] {
        // Neither is used now, or it would be known, and accepted at any earlier time.
        let token =
          isUser
          ? try await fixture.signUp(name).token
          : try await fixture.service.createGuest(from: AccountFixture.home).token
        sessions.append(token.token.exposed)
      }
      clock.step(seconds: -lifetime - settings.skew - 1)
      for token in sessions {
        #expect(
          try await failure { _ = try await fixture.service.authenticate(bearer: token) }
            == .invalidToken)
      }
      clock.step(seconds: 1)
      _ = try await fixture.service.authenticate(bearer: sessions[0])
      let ended = try await fixture.service.authenticate(bearer: sessions[1])
      try await fixture.service.logOut(ended)
      // The clock is right again, and the first token ends as if nothing had been.
      clock.step(seconds: lifetime + settings.skew + lifetime + settings.skew - 1)
      _ = try await fixture.service.authenticate(bearer: sessions[0])
      _ = try await fixture.manager.withStore(.system) { try await $0.removeExpired(at: clock.now) }
      #expect(
        try await failure { _ = try await fixture.service.authenticate(bearer: sessions[1]) }
          == .invalidToken)
      clock.step(seconds: 1)
      #expect(
        try await failure { _ = try await fixture.service.authenticate(bearer: sessions[0]) }
          == .expiredToken)
    }
  }

  @Test func aGuestsSessionGoesOnForYearsWhileItIsUsed() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    var token = guest.token
    for _ in 0..<60 {
      fixture.clock.advance(seconds: 20 * 86_400)
      let principal = try await fixture.service.authenticate(bearer: token)
      #expect(principal.tokenID == guest.principal.tokenID)
      token = try #require(await fixture.service.renewed(principal)).token.exposed
    }
  }

  @Test func anAnswerCarriesOneTokenADayHoweverManyAsk() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let principal = try await fixture.service.authenticate(bearer: session.token.token.exposed)
    #expect(!fixture.service.isRenewalDue(principal))
    for _ in 0..<3 {
      fixture.clock.advance(seconds: fixture.settings.renewalAge)
      #expect(fixture.service.isRenewalDue(principal))
      #expect(await fixture.service.renewedForAnswer(principal) != nil)
      #expect(!fixture.service.isRenewalDue(principal))
      #expect(await fixture.service.renewedForAnswer(principal) == nil)
    }
    fixture.clock.advance(seconds: fixture.settings.renewalAge)
    try await fixture.service.endSessions(of: principal)
    #expect(await fixture.service.renewedForAnswer(principal) == nil)
  }

  @Test func aSessionCannotBeginAfterItsToken() async throws {
    let fixture = try await AccountFixture.make()
    let forge = try TokenForge(fixture)
    for time in ["\(forge.now + 1)", "-1", "null", "\"\(forge.now)\""] {
      let token = forge.token(claims: forge.claims(["auth_time": time]))
      let code = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
      #expect(code == .invalidToken, "\(time)")
    }
    let token = forge.token(claims: forge.claims(["auth_time": "\(forge.now - 5)"]))
    let principal = try await fixture.service.authenticate(bearer: token)
    #expect(principal.startedAt?.seconds == forge.now - 5)
  }

  @Test func endingAllSessionsEndsThoseOfThatUserAlsoAfterARestart() async throws {
    let fixture = try await AccountFixture.make()
    let first = try await fixture.signUp("demo")
    let second = try await fixture.logIn("demo")
    let other = try await fixture.signUp("other")
    let basic = try await fixture.service.authenticate(
      username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    _ = try await fixture.service.authenticate(bearer: second.token.token.exposed)
    try await fixture.service.endSessions(of: basic)
    func check(_ service: AccountService) async throws {
      for session in [first, second] {
        let ended = try await failure {
          _ = try await service.authenticate(bearer: session.token.token.exposed)
        }
        #expect(ended == .invalidToken)
      }
      #expect(
        try await service.authenticate(bearer: other.token.token.exposed) == other.principal)
    }
    try await check(fixture.service)
    let after = try await fixture.restarted()
    try await check(after.service)
    // The password is as good as before.
    #expect(try await after.logIn("demo").principal.id == first.principal.id)
  }

  @Test func endingAllSessionsOfAGuestEndsTheOnlyOne() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    try await fixture.service.endSessions(of: guest.principal)
    let ended = try await failure {
      _ = try await fixture.service.authenticate(bearer: guest.token)
    }
    #expect(ended == .invalidToken)
  }

  @Test func endingAllSessionsOfTheAdministratorLeavesThePassword() async throws {
    let fixture = try await AccountFixture.make { settings in
      let scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
      settings.administrator = try Administrator(
        name: "admin", password: AccountFixture.password, scrypt: scrypt)
    }
    for _ in 0..<2 {
      let session = try await fixture.logIn("admin")
      let token = session.token.token.exposed
      let principal = try await fixture.service.authenticate(bearer: token)
      #expect(principal.kind == .administrator)
      try await fixture.service.endSessions(of: principal)
      let ended = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
      #expect(ended == .invalidToken)
      #expect(try await !fixture.service.isStillValid(principal))
    }
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
