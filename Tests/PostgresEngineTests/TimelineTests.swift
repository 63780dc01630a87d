import Documents
import Stores
import Testing

@testable import PostgresEngine

/// Clients that have seen changes which a failover has taken back start over, and no others.
@Suite struct TimelineTests {
  @Test func positionsBeyondWhatTheNewPrimaryHasAreKnownAlthoughTheirNumbersAreUsedAgain()
    async throws
  {
    let server = try PostgresServer()
    let fixture = try DatabaseFixture(on: server)
    try await fixture.withNode { node in
      let store = try await node.store()
      for number in 1...3 { try await store.put("\(number)", "{}") }
    }
    try server.keepCopy()
    var former = ""
    try await fixture.withNode { node in
      let store = try await node.store()
      for number in 4...5 { try await store.put("\(number)", "{}") }
      former = try await store.read { view in try view.info() }.epoch
    }
    try server.promoteCopy()
    try await fixture.withNode { node in
      let store = try await node.store()
      let early = try await store.read { view in try view.info() }
      #expect(early.hasReached(3) { $0 == former } && !early.hasReached(4) { $0 == former })
      for number in 6...9 { try await store.put("\(number)", "{}") }
      let late = try await store.read { view in try view.info() }
      #expect(late.lastSequence == 7 && late.epoch != former)
      #expect(late.hasReached(3) { $0 == former } && !late.hasReached(4) { $0 == former })
      #expect(late.hasReached(7) { $0 == late.epoch } && !late.hasReached(8) { $0 == late.epoch })
      let changes = try await store.read { view in try view.changes(after: 0, limit: 100) }
      #expect(changes.map(\.id.text) == ["1", "2", "3", "6", "7", "8", "9"])
    }
  }

  @Test func timelinesAreReadAsTheyWereWritten() throws {
    let header = StoreHeader(
      key: "user/x", epoch: String(repeating: "a", count: 32), lastSequence: 7)
    var timelines = StoreTimelines()
    #expect(try StoreTimelines(timelines.bytes) == timelines)
    timelines.note(3, after: header)
    #expect(timelines.epoch == nil && timelines.former == [])
    for timeline in 4...30 as ClosedRange<Int64> {
      timelines.note(timeline, after: header)
      #expect(try StoreTimelines(timelines.bytes) == timelines)
    }
    #expect(timelines.newest == 30 && timelines.former.count == StoreTimelines.maximumFormer)
    #expect(Set(timelines.former.map(\.epoch)).count == timelines.former.count)
    for bytes in ["", "x", " "] {
      #expect(throws: ServiceError.self) { try StoreTimelines(Array(bytes.utf8)) }
    }
  }
}
