import IPAddresses
import Stores
import Testing

@testable import Accounts

/// The exchange of other issuers' ID tokens for sessions.
struct ExchangeTests {
  private let forge: IssuerForge
  private let site: IssuerSite
  private let fixture: AccountFixture

  init() async throws {
    forge = try IssuerForge()
    site = IssuerSite(keys: forge.keys)
    fixture = try await AccountFixture.make(documents: site) { $0.issuers = [IssuerForge.trusted] }
  }

  @Test(arguments: ["RS256", "ES256", "EdDSA"])
  func anIDTokenIsExchangedForATokenOfOurs(algorithm: String) async throws {
    let session = try await exchange(forge.token(algorithm))
    #expect(session.principal.kind == .user)
    let principal = try await fixture.service.authenticate(bearer: session.token.token.exposed)
    #expect(principal == session.principal)
    #expect(try await fixture.service.isStillValid(principal))
    let refused = try await failure {
      _ = try await fixture.service.authenticate(bearer: forge.token(algorithm))
    }
    #expect(refused == .invalidToken)
  }

  @Test func theSameSubjectIsTheSameUserAlsoAfterARestart() async throws {
    let first = try await exchange(forge.token(claims: ["jti": "1"]))
    let other = try await exchange(forge.token(subject: "another"))
    #expect(other.principal.id != first.principal.id)
    let after = try await fixture.restarted()
    let second = try await exchange(forge.token(claims: ["jti": "2"]), at: after)
    #expect(second.principal.id == first.principal.id)
    #expect(second.principal.tokenID != first.principal.tokenID)
  }

  @Test func aUserOfAnIssuerEndsAStolenSession() async throws {
    let stolen = try await exchange(forge.token(claims: ["jti": "1"]))
    let own = try await exchange(forge.token(claims: ["jti": "2"]))
    try await fixture.service.endSessions(of: own.principal)
    for session in [stolen, own] {
      let ended = try await failure {
        _ = try await fixture.service.authenticate(bearer: session.token.token.exposed)
      }
      #expect(ended == .invalidToken)
    }
    let again = try await exchange(forge.token(claims: ["jti": "3"]))
    #expect(again.principal.id == own.principal.id)
  }

  @Test func twoIssuersSameSubjectAreTwoUsers() async throws {
    let url = "https://issuer.example/other"
    let twin = TrustedIssuer(url: url, audiences: ["app"], keysURL: IssuerForge.url + "/keys")
    let fixture = try await AccountFixture.make(documents: site) {
      $0.issuers = [IssuerForge.trusted, twin]
    }
    let one = try await exchange(forge.token(), at: fixture)
    let other = try await exchange(forge.token(claims: ["iss": forge.quote(url)]), at: fixture)
    #expect(one.principal.id != other.principal.id)
    #expect(
      UserName(issuer: "a", subject: "bc") != UserName(issuer: "ab", subject: "c"))
  }

  @Test func aTokenIsExchangedOnceAlsoAfterARestart() async throws {
    let token = forge.token()
    _ = try await exchange(token)
    #expect(try await failure { _ = try await exchange(token) } == .invalidToken)
    let after = try await fixture.restarted()
    #expect(try await failure { _ = try await exchange(token, at: after) } == .invalidToken)
  }

  @Test func ofManyWithOneTokenAtOnceOneIsLetIn() async throws {
    let token = forge.token("EdDSA")
    let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
      for number in 0..<8 {
        let address = ClientAddress("192.0.2.\(number)")
        group.addTask { try await failure { _ = try await exchange(token, from: address) } }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == nil } == 1)
    #expect(codes.count { $0 == .invalidToken } == 7)
  }

  @Test(.bug(id: "S09")) func anAccountThatWasMadeInAVictimsNameStaysAnothers() async throws {
    let name = try await exchange(forge.token()).principal.username ?? ""
    #expect(try await failure { _ = try await fixture.signUp(name) } == .invalidName)
    #expect(try await failure { _ = try await fixture.logIn(name) } == .badCredentials)
    let before = try await fixture.signUp("victim@example.com")
    let victim = try await exchange(forge.token(claims: ["jti": "2"]))
    #expect(before.principal.id != victim.principal.id)
    #expect(victim.principal.username == name)
    #expect(try await fixture.service.accountID(ofUser: "victim") == nil)
  }

  @Test func anErasedAccountIsMadeAnewAndEmpty() async throws {
    let first = try await exchange(forge.token())
    try await fixture.service.erase(first.principal)
    #expect(try await !fixture.service.isStillValid(first.principal))
    let ended = try await failure {
      _ = try await fixture.service.authenticate(bearer: first.token.token.exposed)
    }
    #expect(ended == .invalidToken)
    #expect(try await failure { _ = try await exchange(forge.token()) } == .invalidToken)
    let second = try await exchange(forge.token(claims: ["jti": "2"]))
    #expect(second.principal.id != first.principal.id)
    #expect(second.principal.store != first.principal.store)
  }

  @Test func aGuestIsAdoptedByOneUserAndOnce() async throws {
    let guest = try await fixture.guest()
    let session = try await exchange(forge.token(), bearer: guest.token)
    let adoption = Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
    #expect(fixture.adoptions.done == [adoption])
    let spent = try await failure {
      _ = try await fixture.service.authenticate(bearer: guest.token)
    }
    #expect(spent == .guestSpent)
    // The same user again, and then another user, whose refused ID token stays usable.
    _ = try await exchange(forge.token(claims: ["jti": "2"]), guestToken: guest.token)
    let other = forge.token(subject: "another")
    #expect(
      try await failure { _ = try await exchange(other, bearer: guest.token) } == .guestSpent)
    _ = try await exchange(other)
    #expect(fixture.adoptions.done == [adoption])
  }

  @Test(.bug(id: "F04")) func anInterruptedAdoptionIsDoneAtTheNextLogIn() async throws {
    let guest = try await fixture.guest()
    fixture.adoptions.fail(with: ServiceError(.unavailable, "Not now"))
    let session = try await exchange(forge.token(), guestToken: guest.token)
    #expect(fixture.adoptions.done.isEmpty)
    let after = try await fixture.restarted()
    _ = try await exchange(forge.token(claims: ["jti": "2"]), at: after)
    #expect(
      after.adoptions.done == [
        Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
      ])
  }

  @Test(.bug(id: "S07")) func adoptionNeedsBothProofs() async throws {
    let guest = try await fixture.guest()
    let wrong = try await failure {
      _ = try await exchange(forge.token(claims: ["aud": #""other""#]), bearer: guest.token)
    }
    #expect(wrong == .invalidToken)
    let user = try await fixture.signUp("demo").token.token.exposed
    for token in ["x", guest.token + "A", user] {
      let refused = try await failure { _ = try await exchange(forge.token(), guestToken: token) }
      #expect(refused == .invalidToken)
    }
    // A request with a user's token has no guest to adopt.
    _ = try await exchange(forge.token(), bearer: user)
    #expect(fixture.adoptions.done.isEmpty)
  }

  @Test func nobodyIsAskedAboutATokenOfNoUse() async throws {
    for claims in [
      ["iss": #""https://evil.example""#], ["aud": #""other""#],
      ["exp": "\(forge.now - 100)", "iat": "1"],
    ] as [[String: String?]] {
      let token = forge.token(claims: claims)
      #expect(try await failure { _ = try await exchange(token) } == .invalidToken)
    }
    #expect(site.asked.isEmpty)
    let none = try await AccountFixture.make()
    #expect(
      try await failure { _ = try await exchange(forge.token(), at: none) } == .invalidToken)
  }

  @Test func withoutKeysTheAnswerIsToComeBack() async throws {
    site.publish([:])
    do {
      _ = try await exchange(forge.token())
      Issue.record("nobody could have verified that")
    } catch let error as ServiceError {
      #expect(error.code == .issuerUnavailable)
      #expect(error.retryAfterSeconds == 30)
    }
  }

  /// Five forged tokens kept their subject from signing in at an address.
  @Test func forgedTokensLockNobodyOut() async throws {
    let parts = forge.token().split(separator: ".")
    let forged =
      parts[0] + "." + parts[1] + "." + forge.token(subject: "x").split(separator: ".")[2]
    for _ in 0...fixture.settings.failuresBeforeLockout {
      let code = try await failure { _ = try await exchange(String(forged)) }
      #expect(code == .invalidToken)
    }
    #expect(try await failure { _ = try await exchange(forge.token()) } == nil)
  }

  @Test func exchangesCountAsLogInsOfTheirAddress() async throws {
    let fixture = try await AccountFixture.make(documents: site) {
      $0.issuers = [IssuerForge.trusted]
      $0.passwordsPerMinute = 4
    }
    var codes: [ServiceError.Code?] = []
    for _ in 0..<4 { codes.append(try await failure { _ = try await exchange("x", at: fixture) }) }
    #expect(codes.first == .invalidToken)
    #expect(codes.last == .tooMany)
  }

  private func exchange(
    _ token: String, guestToken: String? = nil, bearer: String? = nil,
    from address: ClientAddress = AccountFixture.home, at other: AccountFixture? = nil
  ) async throws -> Session {
    try await (other ?? fixture).service.exchange(
      idToken: Secret(token), guestToken: guestToken, bearer: bearer, from: address)
  }
}
