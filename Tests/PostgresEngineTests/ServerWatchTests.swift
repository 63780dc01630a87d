import Documents
import Foundation
import Scheduling
import Stores
import Testing

@testable import PostgresEngine

/// What a node knows of the servers of its database, and what it does when that changes.
@Suite struct ServerWatchTests {
  @Test func hostThatDoesNotAnswerIsSilentAndOneThatRefusesIsNot() {
    let (servers, now) = (KnownServers(count: 2), ContinuousClock.now)
    #expect(!servers.isCutOff(at: now) && servers.reachesPrimary(at: now))
    servers.begin(0, at: now)
    servers.begin(1, at: now)
    let early = now + KnownServers.longestAnswer - .milliseconds(1)
    let late = now + KnownServers.longestAnswer
    #expect(!servers.isCutOff(at: early) && servers.isCutOff(at: late))
    #expect(servers.reachesPrimary(at: early) && !servers.reachesPrimary(at: late))
    // A quick refusal is an answer of the machine. A late one is a time-out.
    servers.end(1, .refused, at: early)
    #expect(!servers.isCutOff(at: late) && !servers.reachesPrimary(at: late))
    servers.end(0, .refused, at: late)
    servers.begin(1, at: late)
    servers.end(1, .refused, at: late + KnownServers.longestAnswer)
    #expect(servers.isCutOff(at: late))
    servers.begin(0, at: late)
    servers.end(0, .primary(3), at: late)
    #expect(!servers.isCutOff(at: late) && servers.reachesPrimary(at: late))
  }

  @Test func onlyTheNewestPrimaryCounts() {
    let (servers, now) = (KnownServers(count: 3), ContinuousClock.now)
    servers.end(0, .primary(4), at: now)
    servers.end(1, .standby, at: now)
    #expect(servers.reachesPrimary(at: now) && servers.timeline.value == 4)
    #expect(servers.preferringPrimary([2, 1, 0]) == [0, 2, 1])
    servers.end(2, .primary(5), at: now)
    #expect(servers.preferringPrimary([0, 1, 2]) == [2, 0, 1] && servers.timeline.value == 5)
    // The newest primary is gone. The former one lives on, and is none for this node.
    servers.end(2, .refused, at: now)
    #expect(!servers.reachesPrimary(at: now) && !servers.isCutOff(at: now))
  }

  @Test func nodeThatReachesOnlyAFormerPrimaryIsCutOff() {
    let (servers, now) = (KnownServers(count: 3), ContinuousClock.now)
    servers.end(0, .primary(4), at: now)
    servers.end(1, .primary(5), at: now)
    servers.end(2, .standby, at: now)
    #expect(servers.answers(1, at: now))
    servers.begin(1, at: now)
    let late = now + KnownServers.longestAnswer
    // The standby may become the primary soon.
    #expect(!servers.answers(1, at: late) && !servers.isCutOff(at: late))
    servers.end(2, .silent, at: late)
    #expect(servers.isCutOff(at: late) && !servers.reachesPrimary(at: late))
    // The server of the newest primary is down, and may start again.
    servers.end(2, .primary(3), at: late)
    servers.end(1, .refused, at: now)
    #expect(!servers.isCutOff(at: late) && !servers.answers(1, at: late))
  }

  @Test func answerOfAFormerPrimaryIsNotUsed() throws {
    let address = try DatabaseFixture().address
    let connection = try address.connect()
    try connection.begin([Call(Statement(once: "SELECT 1::int8"))])
    #expect(address.servers.timeline.isNewest(connection.timeline + 1))
    #expect(!connection.isAlive)
    #expect(throws: PostgresError.self) { try connection.answers(within: 10_000) }
    #expect(throws: PostgresError.self) { try address.connect() }
  }

  @Test(arguments: [true, false])
  func waitEndsWhenTheAnswerCouldNotBeUsed(isCutOff: Bool) throws {
    let address = try DatabaseFixture().address
    let connection = try address.connect()
    // Without the check the wait would take ten minutes.
    connection.longestSilence = 600_000
    let timeline = connection.timeline
    // A thread of its own, because the wait blocks this one.
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.2)
      if isCutOff {
        address.servers.begin(0, at: .now - KnownServers.longestAnswer)
      } else {
        _ = address.servers.timeline.isNewest(timeline + 1)
      }
    }
    #expect(throws: PostgresError.self) { try connection.execute("SELECT pg_sleep(900)") }
  }

  @Test func nodeThatIsCutOffTriesNoHostUntilOneAnswers() throws {
    let address = try DatabaseFixture().address
    let timeline = try address.connect().timeline
    address.servers.begin(0, at: .now - KnownServers.longestAnswer)
    #expect(throws: PostgresError.self) { try address.connect() }
    address.servers.end(0, .primary(timeline))
    _ = try address.connect()
  }

  @Test func nodeThatOnlyReadsLeavesAFormerPrimaryThatLivesOn() async throws {
    let servers = [try PostgresServer(), try PostgresServer()]
    let schema = "&options=-csearch_path%3Dshared"
    func node(_ url: String) async throws -> PostgresDatabase {
      try await PostgresDatabase.open(
        try DatabaseAddress(url: url + schema), connections: 4,
        pool: .forStores(processors: 2, threads: 8))
    }
    for (server, body) in zip(servers, [#"{"is":"old"}"#, #"{"is":"new"}"#]) {
      try DatabaseAddress(url: server.url).connect().execute("CREATE SCHEMA shared")
      let writer = try await node(server.url)
      try await writer.store().put("a", body)
      await writer.close()
    }
    try servers[1].keepCopy()
    try servers[1].promoteCopy()
    let directory = try #require(servers[1].url.split(separator: "=").last)
    let reader = try await node(servers[0].url + "," + directory)
    let store = try await reader.store()
    #expect(try await store.body("a") == #"{"is":"old"}"#)
    let changes = reader.remoteChanges()
    while try await store.body("a") != #"{"is":"new"}"# {
      try await Task.sleep(for: .milliseconds(10))
    }
    for _ in 0..<50 { #expect(try await store.body("a") == #"{"is":"new"}"#) }
    try await store.put("later", "{}")
    try reader.checkWritable()
    withExtendedLifetime(changes) {}
    await reader.close()
    let former = try await node(servers[0].url)
    #expect(try await former.store().body("later") == nil)
    await former.close()
  }
}
