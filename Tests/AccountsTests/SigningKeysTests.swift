import Documents
import Stores
import TestSupport
import Testing

@testable import Accounts

/// The keys that sign tokens, and their file.
struct SigningKeysTests {
  private let now = Timestamp(seconds: 1_800_000_000)

  @Test func theFileIsMadeForItsOwnerAlone() async throws {
    let directory = try TemporaryDirectory()
    let keys = try SigningKeys.open(directory.path + "/keys", now: now)
    #expect(directory.mode(of: "keys") == 0o600)
    #expect(directory.names == ["keys"])
    let again = try SigningKeys.open(directory.path + "/keys", now: now)
    #expect(again.current?.id == keys.current?.id)
    #expect(again.current?.secret == keys.current?.secret)
  }

  @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o601])
  func aFileThatOthersMayUseIsRefused(mode: Int) async throws {
    let directory = try TemporaryDirectory()
    _ = try SigningKeys.open(directory.path + "/keys", now: now)
    try directory.setMode(mode, of: "keys")
    try await expectRefused(directory)
  }

  @Test func aLinkIsRefused() async throws {
    let directory = try TemporaryDirectory()
    _ = try SigningKeys.open(directory.path + "/other", now: now)
    try directory.link("keys", to: directory.path + "/other")
    try await expectRefused(directory)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"version":2,"keys":[]}"#, #"{"version":1,"keys":[]}"#,
    #"{"version":1,"keys":[{"kid":"x","secret":"00","created":1}]}"#,
    #"{"version":1,"keys":[{"kid":"0011223344556677","secret":"00","created":1}]}"#,
    #"{"version":1,"version":1,"keys":[]}"#,
  ])
  func aDamagedFileIsRefusedAndLeftAlone(text: String) async throws {
    let directory = try TemporaryDirectory()
    try directory.write(text, to: "keys")
    try await expectRefused(directory)
    #expect(try directory.text("keys") == text)
    let error = #expect(throws: ServiceError.self) {
      try SigningKeys.open(directory.path + "/keys", now: now)
    }
    #expect(error?.reason.contains("backup") == true)
    #expect(error?.detail.hasPrefix(directory.path + "/keys: ") == true)
  }

  @Test func aDirectoryThatIsNotThereIsAnError() async throws {
    let result = try await failure {
      _ = try SigningKeys.open("/nowhere/at/all/keys", now: now)
    }
    #expect(result == .keys)
  }

  @Test(.bug(id: "S04")) func tokensOutliveARotationByTheOverlap() async throws {
    let fixture = try await AccountFixture.make { $0.guestLifetime = 2 * SigningKeys.overlap }
    let old = try await fixture.guest().token
    let oldKey = fixture.keys.current?.id
    try await fixture.keys.rotate(now: fixture.clock.now)
    #expect(fixture.keys.current?.id != oldKey)
    let new = try await fixture.guest().token
    #expect(try await fixture.service.authenticate(bearer: old).kind == .guest)
    fixture.clock.advance(seconds: SigningKeys.overlap - 1)
    #expect(try await fixture.service.authenticate(bearer: old).kind == .guest)
    fixture.clock.advance(seconds: 1)
    let ended = try await failure { _ = try await fixture.service.authenticate(bearer: old) }
    #expect(ended == .invalidToken)
    #expect(try await fixture.service.authenticate(bearer: new).kind == .guest)
  }

  @Test func aRotationByAClockThatIsMonthsBehindEndsNoSession() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    fixture.clock.advance(seconds: -AccountSettings.guestSeconds)
    try await fixture.keys.rotate(now: fixture.clock.now)
    fixture.clock.advance(seconds: AccountSettings.guestSeconds)
    #expect(
      try await fixture.service.authenticate(bearer: guest.token).id == guest.principal.id)
  }

  @Test func aRotationIsOnDiskAndIsReadAgain() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/keys"
    let serving = try SigningKeys.open(path, now: now)
    let first = try #require(serving.current?.id)
    let commandLine = try SigningKeys.open(path, now: now)
    try await commandLine.rotate(now: now)
    #expect(directory.mode(of: "keys") == 0o600)
    #expect(directory.names == ["keys"])
    #expect(serving.current?.id == first)
    try await serving.reload()
    #expect(serving.current?.id == commandLine.current?.id)
    #expect(serving.key(first, at: now.adding(seconds: SigningKeys.overlap - 1)) != nil)
    #expect(serving.key(first, at: now.adding(seconds: SigningKeys.overlap)) == nil)
  }

  @Test func keysWhoseTimeIsOverAreDropped() async throws {
    let directory = try TemporaryDirectory()
    let keys = try SigningKeys.open(directory.path + "/keys", now: now)
    let first = try #require(keys.current?.id.text)
    try await keys.rotate(now: now)
    try await keys.rotate(now: now.adding(seconds: 10))
    #expect(try directory.text("keys").contains(first))
    try await keys.rotate(now: now.adding(seconds: SigningKeys.overlap))
    #expect(try !directory.text("keys").contains(first))
  }

  @Test func aReloadOfABadFileChangesNothing() async throws {
    let directory = try TemporaryDirectory()
    let keys = try SigningKeys.open(directory.path + "/keys", now: now)
    let first = keys.current?.id
    try directory.write("{}", to: "keys")
    let result = try await failure { try await keys.reload() }
    #expect(result == .keys)
    #expect(keys.current?.id == first)
  }

  private func expectRefused(
    _ directory: TemporaryDirectory, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await failure {
      _ = try SigningKeys.open(directory.path + "/keys", now: now)
    }
    #expect(result == .keys, sourceLocation: location)
  }
}
