import Stores
import TestSupport
import Testing

@testable import Accounts

/// When the service fetches an issuer's keys, and how long it uses them.
struct IssuerKeysTests {
  private let clock = TestClock()
  private let forge: IssuerForge
  private let site: IssuerSite
  private let keys: IssuerKeys

  init() throws {
    forge = try IssuerForge()
    site = IssuerSite(keys: forge.keys)
    keys = IssuerKeys(of: IssuerForge.trusted, documents: site, now: { [clock] in clock.now })
  }

  @Test func keysAreAskedForOnceInTenMinutes() async throws {
    for _ in 0..<20 {
      #expect(try await has("ES256"))
      clock.advance(seconds: 29)
    }
    #expect(site.asked.count == 1)
    clock.advance(seconds: 20)
    #expect(try await has("ES256"))
    #expect(site.asked.count == 2)
  }

  @Test(.bug(id: "S02")) func aFloodOfUnknownKeysIsOneRequestInThirtySeconds() async throws {
    #expect(try await has("ES256"))
    for second in 1...90 {
      for number in 0..<20 {
        #expect(try await !has("ES256", kid: "\(second)-\(number)"))
      }
      clock.advance(seconds: 1)
    }
    #expect(site.asked.count == 3)
    #expect(try await has("RS256"))
  }

  @Test(.bug(id: "S02")) func manyAtOnceShareOneRequest() async throws {
    site.hold(true)
    let names = try (0..<50).map { try name("ES256", kid: $0 % 2 == 0 ? "ES256" : "\($0)") }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for name in names { group.addTask { try await keys.key(name) != nil } }
      while site.asked.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
      site.hold(false)
      var found = 0
      for try await isFound in group where isFound { found += 1 }
      #expect(found == 25)
    }
    #expect(site.asked.count == 1)
  }

  @Test func aCallerWhoLeavesDoesNotEndTheRequest() async throws {
    site.hold(true)
    let name = try name("ES256")
    let leaver = Task { try? await keys.key(name) }
    while site.asked.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
    leaver.cancel()
    let other = Task { try await keys.key(name) }
    site.hold(false)
    #expect(try await other.value != nil)
    #expect(site.asked.count == 1)
  }

  @Test(.bug(id: "S04")) func aRotatedKeyIsFoundAndTheOldOneEnds() async throws {
    #expect(try await has("ES256"))
    site.publish(keys: forge.keySet([forge.key("ES256", kid: "next")]))
    #expect(try await !has("ES256", kid: "next"))
    clock.advance(seconds: 30)
    #expect(try await has("ES256", kid: "next"))
    #expect(try await !has("ES256"))
  }

  @Test(.bug(id: "S04")) func aKeyThatTheIssuerTookBackEndsWithinTenMinutes() async throws {
    #expect(try await has("ES256"))
    site.publish(keys: forge.keySet([]))
    clock.advance(seconds: IssuerKeys.freshSeconds - 1)
    #expect(try await has("ES256"))
    clock.advance(seconds: 1)
    #expect(try await !has("ES256"))
  }

  @Test func keysOfAnIssuerThatIsDownAreBelievedForSixHours() async throws {
    #expect(try await has("ES256"))
    site.publish([:])
    clock.advance(seconds: IssuerKeys.staleSeconds - 1)
    #expect(try await has("ES256"))
    #expect(try await !has("ES256", kid: "unknown"))
    clock.advance(seconds: 1)
    #expect(try await unavailable())
    #expect(site.failures.count == site.asked.count - 1)
  }

  @Test func anIssuerThatWasNeverReachedIsTriedEveryThirtySeconds() async throws {
    site.publish([:])
    for _ in 0..<10 {
      #expect(try await unavailable())
    }
    #expect(site.asked.count == 1)
    clock.advance(seconds: IssuerKeys.retrySeconds)
    site.publish(keys: forge.keys)
    #expect(try await has("ES256"))
  }

  @Test func anAnswerThatIsNoKeySetLeavesTheKeysAsTheyWere() async throws {
    #expect(try await has("ES256"))
    site.publish(keys: Array("<html>".utf8))
    clock.advance(seconds: IssuerKeys.freshSeconds)
    #expect(try await has("ES256"))
    #expect(site.failures.map(\.code) == [.issuerUnavailable])
  }

  @Test(.bug(id: "F21")) func aClockThatIsSetBackAsksNoOftenerAndStillAsks() async throws {
    #expect(try await has("ES256"))
    clock.advance(seconds: -86_400)
    #expect(try await !has("ES256", kid: "unknown"))
    #expect(site.asked.count == 1)
    clock.advance(seconds: IssuerKeys.retrySeconds)
    #expect(try await !has("ES256", kid: "unknown"))
    #expect(site.asked.count == 2)
  }

  @Test(arguments: [
    (#"{"issuer":"https://issuer.example/realm","jwks_uri":"https://keys.example/all"}"#, true),
    (#"{"issuer":"https://issuer.example/realm/","jwks_uri":"https://keys.example/all"}"#, false),
    (#"{"issuer":"https://issuer.example","jwks_uri":"https://keys.example/all"}"#, false),
    (#"{"jwks_uri":"https://keys.example/all"}"#, false),
    (#"{"issuer":"https://issuer.example/realm"}"#, false), ("[]", false), ("", false),
  ])
  func aDiscoveryDocumentIsItsIssuers(document: String, isGood: Bool) async throws {
    let issuer = TrustedIssuer(url: IssuerForge.url, audiences: ["app"])
    let url = IssuerForge.url + "/.well-known/openid-configuration"
    site.publish([url: Array(document.utf8), "https://keys.example/all": forge.keys])
    let keys = IssuerKeys(of: issuer, documents: site, now: { [clock] in clock.now })
    let found = try? await keys.key(try name("ES256"))
    #expect((found != nil) == isGood)
    #expect(site.asked == (isGood ? [url, "https://keys.example/all"] : [url]))
  }

  @Test func aSlashAtAnIssuersEndIsNotDoubled() {
    let issuer = TrustedIssuer(url: "https://issuer.example/", audiences: [])
    #expect(issuer.discoveryURL == "https://issuer.example/.well-known/openid-configuration")
  }

  private func name(_ algorithm: String, kid: String? = nil) throws -> IDToken.KeyName {
    try IDToken(forge.token(algorithm, header: ["kid": forge.quote(kid ?? algorithm)])).key
  }

  private func has(_ algorithm: String, kid: String? = nil) async throws -> Bool {
    try await keys.key(try name(algorithm, kid: kid)) != nil
  }

  private func unavailable() async throws -> Bool {
    try await failure { _ = try await has("ES256") } == .issuerUnavailable
  }
}
