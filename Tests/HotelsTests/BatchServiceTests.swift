import Documents
import Hotels
import Stores
import TestSupport
import Testing

@Suite struct BatchServiceTests {
  private func change(
    _ fixture: HotelFixture, _ text: String, key: String? = nil, request: UInt8 = 1
  ) async throws -> BatchAnswer {
    let receipt = try key.map { try fixture.receipt($0, request) }
    return try await fixture.service.change(
      batch(text), in: fixture.user, as: WriteContext(author: .server, receipt: receipt)
    ) { outcome in KeptAnswer(status: 200, body: outcome.bytes) }
  }

  /// The stored answer to a batch that was carried out before; nil if the batch is carried out now.
  private func replay(
    _ fixture: HotelFixture, _ text: String, key: String, request: UInt8 = 1
  ) async throws -> [UInt8]? {
    do { _ = try await change(fixture, text, key: key, request: request) } catch let earlier
      as WriteReceipt.AnsweredBefore
    { return earlier.answer.body }
    return nil
  }

  @Test func everyItemHasItsStatus() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "old", "same", "gone")
    let answer = try await change(
      fixture,
      #"{"add":[{"id":"new","v":1},{"id":"old","v":2},{"id":"same"}],"remove":["gone","never"]}"#)
    #expect(answer.results.map(\.status) == [201, 200, 200, 204, 404])
    #expect(answer.results.map(\.id.text) == ["new", "old", "same", "gone", "never"])
    #expect(try await fixture.ids() == ["new", "same", "old"])
    #expect(
      answer.bytes.text.hasPrefix(
        #"{"results":[{"id":"new","status":201},{"id":"old","status":200,"replaced":true},"#))
  }

  @Test func batchIsAllOrNothing() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    try await fixture.put("taken", #"{"type":"note"}"#)
    let before = try await fixture.info()
    for text in [
      #"{"add":[{"id":"b","v":1},{"id":"taken","v":1}],"remove":["a"]}"#,
      #"{"add":[{"id":"b","v":1},{"id":"c","type":"inn"}],"remove":["a"]}"#,
    ] {
      #expect(await code { _ = try await change(fixture, text) } != nil)
      #expect(try await fixture.info() == before)
    }
    #expect(try await fixture.ids() == ["a"])
  }

  @Test func batchBeyondTheQuotaChangesNothing() async throws {
    let fixture = try HotelFixture(limits: { _ in
      StoreLimits(documents: 3, bytes: 4_096, history: HistoryLimits(revisions: 20))
    })
    try await fixture.add(ids: "a")
    #expect(
      await code { _ = try await change(fixture, #"{"add":[{"id":"b","v":1},{"id":"c","v":1}]}"#) }
        == .quotaExceeded)
    #expect(try await fixture.ids() == ["a"])
  }

  @Test func keyBeyondADaysNumberIsRefusedAndThoseBeforeAreStillAnswered() async throws {
    let fixture = try HotelFixture(limits: { _ in
      StoreLimits(documents: 10, bytes: 1 << 20, receipts: 50)
    })
    let first = #"{"add":[{"id":"a","v":1}]}"#
    for number in 0..<50 {
      _ = try await change(fixture, first, key: "\(number)")
    }
    let text = #"{"remove":["a"]}"#
    #expect(await code { _ = try await change(fixture, text, key: "new") } == .quotaExceeded)
    #expect(try await fixture.ids() == ["a"])
    #expect(try await replay(fixture, first, key: "0") != nil)
    #expect(try await change(fixture, text).results.map(\.status) == [204])
    // They are counted by the hour.
    fixture.clock.advance(seconds: StoreLimits.receiptSeconds + 3_600)
    #expect(try await replay(fixture, text, key: "new") == nil)
  }

  @Test func removingFromAnAbsentStoreMakesNone() async throws {
    let fixture = try HotelFixture()
    let answer = try await fixture.service.change(
      batch(#"{"remove":["a"]}"#), in: fixture.guest, as: .server)
    #expect(answer.results.map(\.status) == [404])
    #expect(answer.undo.isEmpty)
    await #expect(throws: ServiceError.self) { try await fixture.info(in: fixture.guest) }
  }

  @Test func repeatedKeyIsAnsweredAndNotDoneAgain() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"gone","n":1.50}"#)
    let text = #"{"add":[{"id":"new","v":1}],"remove":["gone","never"]}"#
    let first = try await change(fixture, text, key: "key")
    try await fixture.add(#"{"id":"gone","n":2}"#)
    let state = try await fixture.info()
    #expect(try await replay(fixture, text, key: "key") == first.bytes)
    #expect(try await fixture.info() == state)
    #expect(try await replay(fixture, text, key: "KEY") == nil)
  }

  @Test func keyOfAnotherRequestIsRefused() async throws {
    let fixture = try HotelFixture()
    _ = try await change(fixture, #"{"add":[{"id":"a","v":1}]}"#, key: "key")
    #expect(
      await code {
        _ = try await change(fixture, #"{"add":[{"id":"b","v":1}]}"#, key: "key", request: 2)
      } == .receiptMismatch)
    #expect(try await fixture.ids() == ["a"])
  }

  @Test func answerIsForgottenAfterADay() async throws {
    let fixture = try HotelFixture()
    let text = #"{"add":[{"id":"a","v":1}]}"#
    _ = try await change(fixture, text, key: "key")
    fixture.clock.advance(seconds: StoreLimits.receiptSeconds - 1)
    #expect(try await replay(fixture, text, key: "key") != nil)
    fixture.clock.advance(seconds: 1)
    let late = try await change(fixture, text, key: "key", request: 2)
    #expect(late.results.map(\.status) == [200])
    #expect(try await replay(fixture, text, key: "key", request: 2) != nil)
  }

  @Test func failedBatchKeepsNoAnswer() async throws {
    let fixture = try HotelFixture()
    try await fixture.put("taken", #"{"type":"note"}"#)
    #expect(
      await code {
        _ = try await change(fixture, #"{"add":[{"id":"taken","v":1}]}"#, key: "key")
      } == .occupied)
    #expect(
      try await replay(fixture, #"{"add":[{"id":"a","v":1}]}"#, key: "key", request: 2) == nil)
  }

  @Test func concurrentRetriesAreDoneOnce() async throws {
    let fixture = try HotelFixture()
    let replays = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await replay(fixture, #"{"add":[{"id":"a","v":1}]}"#, key: "key") != nil
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(replays == 7)
    #expect(try await fixture.info().lastSequence == 2)
  }

  @Test func listsThatAreMergedFirstAreNoAnswer() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    try await fixture.put(
      "another", #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    let text = #"{"add":[{"id":"b","v":1}]}"#
    let first = try await change(fixture, text, key: "key")
    #expect(first.results.map(\.id.text) == ["b"])
    #expect(try await replay(fixture, text, key: "key") == first.bytes)
  }
}
