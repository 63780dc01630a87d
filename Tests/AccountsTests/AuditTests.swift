import Documents
import IPAddresses
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Accounts

/// What the audit log records, and what it never does.
struct AuditTests {
  /// The entries of a service, the oldest first, as their events and texts.
  private static func entries(
    of service: AccountService, since time: Timestamp? = nil, newest: Bool = false
  ) async throws -> [JSONValue] {
    try await service.writeAudit()
    var (lines, after) = ([[UInt8]](), String?.none)
    repeat {
      let page = try await service.audit(since: time, newest: newest, after: after)
      lines += page.lines
      after = page.next
    } while after != nil
    return try lines.map { try JSONValue(parsing: $0, limits: .small) }
  }

  private static func events(of service: AccountService) async throws -> [String] {
    try await entries(of: service).map { $0["event"]?.string ?? "" }
  }

  @Test func accountsAreKnownByTheirIDsAlone() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    let session = try await fixture.signUp("Ada Secret")
    _ = try await failure {
      _ = try await fixture.service.logIn(
        username: "ada secret", password: Secret("wrong password"), guestToken: nil,
        from: AccountFixture.home)
    }
    _ = try await fixture.logIn("Ada Secret")
    _ = try await fixture.service.passwordReset(for: "ada secret")
    try await fixture.service.endSessions(ofUser: "ada secret")
    try await fixture.service.eraseUser("ada secret")
    let entries = try await Self.entries(of: fixture.service)
    #expect(
      entries.map { $0["event"]?.string } == [
        "signedUp", "signInFailed", "signedIn", "resetMade", "sessionsEnded", "erased",
      ])
    #expect(entries.allSatisfy { $0["account"]?.string == session.principal.id.text })
    let administrator = Array(repeating: "administrator", count: 3)
    #expect(entries.map { $0["by"]?.string } == [nil, nil, nil] + administrator)
    for entry in entries {
      let text = String(decoding: entry.bytes, as: UTF8.self)
      #expect(!text.lowercased().contains("secret") && !text.contains(AccountFixture.home.prefix))
      #expect(entry["time"]?.string == fixture.clock.now.rfc3339)
    }
  }

  @Test func addressesAreRecordedIfTheSettingSaysSo() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .addresses }
    _ = try await fixture.signUp("ada")
    #expect(try await Self.entries(of: fixture.service).first?["address"] == "192.0.2.1")
  }

  @Test func nothingIsRecordedByDefault() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("ada")
    #expect(try await Self.events(of: fixture.service) == [])
    #expect(try await !fixture.service.hasAudit())
  }

  @Test func lockIsRecordedAfterTheFailuresThatCauseIt() async throws {
    let fixture = try await AccountFixture.make { settings in
      settings.audit = .on
      settings.failuresBeforeLockout = 2
    }
    for number in 1...3 {
      _ = try await failure {
        _ = try await fixture.service.authenticate(
          username: "nobody", password: Secret("wrong \(number) password"),
          from: AccountFixture.home)
      }
    }
    #expect(
      try await Self.events(of: fixture.service) == ["signInFailed", "signInFailed", "locked"])
  }

  /// A client that sends a password with each request would fill the log.
  @Test func passwordOfEachRequestIsRecordedOncePerAddress() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    _ = try await fixture.signUp("ada")
    for address in [AccountFixture.home, AccountFixture.abroad, AccountFixture.abroad] {
      fixture.clock.advance(seconds: 600)
      _ = try await fixture.service.authenticate(
        username: "ada", password: AccountFixture.password, from: address)
    }
    #expect(try await Self.events(of: fixture.service) == ["signedUp", "signedIn"])
  }

  @Test func entriesAreThereAfterAStartAndForgottenAfterNinetyDays() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    fixture.service.audit.note(AuditEvent(.databaseMade, by: .administrator, about: "first"))
    try await fixture.service.writeAudit()
    let begun = fixture.clock.now
    fixture.clock.advance(seconds: 89 * 86_400)
    let later = try await fixture.restarted()
    later.service.audit.note(AuditEvent(.databaseRemoved, by: .administrator, about: "first"))
    #expect(try await Self.events(of: later.service) == ["databaseMade", "databaseRemoved"])
    let newest = try await Self.entries(of: later.service, newest: true)
    #expect(newest.first?["event"] == "databaseRemoved")
    let since = try await Self.entries(of: later.service, since: begun.adding(seconds: 1))
    #expect(since.map { $0["event"]?.string } == ["databaseRemoved"])
    fixture.clock.advance(seconds: 2 * 86_400)
    #expect(try await Self.events(of: later.service) == ["databaseRemoved"])
  }

  /// One unreadable piece ended the reading of the log.
  @Test func anUnreadablePieceIsNamedAndHidesNoOther() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    var pieces: [String] = []
    for about in ["first", "second", "third"] {
      fixture.service.audit.note(AuditEvent(.jobStarted, about: about))
      try await fixture.service.writeAudit()
      pieces = try await fixture.service.accounts.read(orAbsent: []) { view in
        var ids: [String] = []
        try view.allLocals(AuditPiece.range(since: nil, at: fixture.clock.now)) { id, _ in
          ids.append(id.text)
          return true
        }
        return ids
      }
      fixture.clock.advance(seconds: 2 * AuditPiece.seconds)
    }
    try #require(pieces.count == 3)
    let damaged = try await fixture.restarted(without: [pieces[1]])
    let entries = try await Self.entries(of: damaged.service)
    #expect(entries.map { $0["event"]?.string } == ["jobStarted", "entriesLost", "jobStarted"])
    #expect(entries.compactMap { $0["about"]?.string } == ["first", "damage", "third"])
  }

  @Test func pagesOfManyPiecesHaveEachEntryOnce() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    let count = 3_000
    for number in 1...count {
      fixture.clock.advance(seconds: 1)
      fixture.service.audit.note(AuditEvent(.jobStarted, about: "\(number)"))
    }
    let expected = (1...count).map { "\($0)" }
    let entries = try await Self.entries(of: fixture.service)
    #expect(entries.map { $0["about"]?.string } == expected)
    let newest = try await Self.entries(of: fixture.service, newest: true)
    #expect(newest.map { $0["about"]?.string } == expected.reversed())
  }

  @Test func floodOfFailuresLeavesRoomForOtherEntriesAndIsCounted() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    let audit = fixture.service.audit
    let about = String(repeating: "x", count: 1_000)
    // More than half of a day's bytes; stored in between, because what waits has a limit, too.
    for _ in 1...40 {
      for _ in 1...500 { audit.note(AuditEvent(.signInFailed, about: about)) }
      try await fixture.service.writeAudit()
    }
    let lost = audit.lostCount
    #expect(lost > 0)
    audit.note(AuditEvent(.erased))
    #expect(audit.lostCount == lost)
    try await fixture.service.writeAudit()
    let newest = try await fixture.service.audit(since: nil, newest: true, after: nil)
    let last = newest.lines.prefix(2).map { String(decoding: $0, as: UTF8.self) }
    #expect(last.contains { $0.hasSuffix(#""event":"entriesLost","count":\#(lost)}"#) })
    #expect(last.contains { $0.hasSuffix(#""event":"erased"}"#) })
  }

  @Test func entriesWaitWhileTheStoreTakesNoWrites() async throws {
    let fixture = try await AccountFixture.make { $0.audit = .on }
    let audit = fixture.service.audit
    for _ in 1...3 { audit.note(AuditEvent(.erased)) }
    let first = try #require(audit.next())
    // Not settled: the write failed.
    audit.note(AuditEvent(.signedUp))
    let second = try #require(audit.next())
    #expect((first.count, second.count) == (3, 4))
    #expect(second.piece.body.starts(with: first.piece.body))
    let events = try await Self.events(of: fixture.service)
    #expect(events == ["erased", "erased", "erased", "signedUp"])
  }
}
