import Documents
import Hotels
import Stores
import TestSupport
import Testing

@Suite struct BatchServiceTests {
  private func change(
    _ fixture: HotelFixture, _ text: String, receipt: ReceiptRequest? = nil
  ) async throws -> BatchAnswer {
    try await fixture.service.change(batch(text), in: fixture.user, receipt: receipt)
  }

  private func receipt(_ key: String, _ fingerprint: UInt8 = 1) throws -> ReceiptRequest {
    try #require(
      ReceiptRequest(key: key, fingerprint: Array(repeating: fingerprint, count: 32)))
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
    #expect(!answer.isReplay)
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
    let fixture = try HotelFixture()
    for number in 0..<Int(StoreLimits.receipts) {
      _ = try await change(fixture, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("\(number)"))
    }
    let text = #"{"remove":["a"]}"#
    #expect(
      await code { _ = try await change(fixture, text, receipt: receipt("new")) } == .quotaExceeded)
    #expect(try await fixture.ids() == ["a"])
    #expect(
      try await change(fixture, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("0")).isReplay)
    #expect(try await change(fixture, text).results.map(\.status) == [204])
    fixture.clock.advance(seconds: BookmarkLimits.receiptSeconds)
    #expect(!(try await change(fixture, text, receipt: receipt("new")).isReplay))
  }

  @Test func removingFromAnAbsentStoreMakesNone() async throws {
    let fixture = try HotelFixture()
    let answer = try await fixture.service.change(batch(#"{"remove":["a"]}"#), in: fixture.guest)
    #expect(answer.results.map(\.status) == [404])
    #expect(answer.undo.isEmpty)
    await #expect(throws: ServiceError.self) { try await fixture.info(in: fixture.guest) }
  }

  @Test func repeatedKeyIsAnsweredAndNotDoneAgain() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"gone","n":1.50}"#)
    let text = #"{"add":[{"id":"new","v":1}],"remove":["gone","never"]}"#
    let first = try await change(fixture, text, receipt: receipt("key"))
    try await fixture.add(#"{"id":"gone","n":2}"#)
    let state = try await fixture.info()
    let again = try await change(fixture, text, receipt: receipt("key"))
    #expect(again.isReplay)
    #expect(again.bytes == first.bytes)
    #expect(try await fixture.info() == state)
    let other = try await change(fixture, text, receipt: receipt("KEY"))
    #expect(!other.isReplay)
  }

  @Test func keyOfAnotherRequestIsRefused() async throws {
    let fixture = try HotelFixture()
    _ = try await change(fixture, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("key"))
    #expect(
      await code {
        _ = try await change(fixture, #"{"add":[{"id":"b","v":1}]}"#, receipt: receipt("key", 2))
      } == .receiptMismatch)
    #expect(try await fixture.ids() == ["a"])
  }

  @Test func receiptIsForgottenAfterADay() async throws {
    let fixture = try HotelFixture()
    let text = #"{"add":[{"id":"a","v":1}]}"#
    _ = try await change(fixture, text, receipt: receipt("key"))
    fixture.clock.advance(seconds: BookmarkLimits.receiptSeconds - 1)
    #expect(try await change(fixture, text, receipt: receipt("key")).isReplay)
    fixture.clock.advance(seconds: 1)
    let late = try await change(fixture, text, receipt: receipt("key", 2))
    #expect(!late.isReplay)
    #expect(late.results.map(\.status) == [200])
    #expect(try await change(fixture, text, receipt: receipt("key", 2)).isReplay)
  }

  @Test func failedBatchLeavesNoReceipt() async throws {
    let fixture = try HotelFixture()
    try await fixture.put("taken", #"{"type":"note"}"#)
    #expect(
      await code {
        _ = try await change(fixture, #"{"add":[{"id":"taken","v":1}]}"#, receipt: receipt("key"))
      } == .occupied)
    let answer = try await change(
      fixture, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("key", 2))
    #expect(!answer.isReplay)
  }

  @Test func concurrentRetriesAreDoneOnce() async throws {
    let fixture = try HotelFixture()
    let request = try receipt("key")
    let replays = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await change(fixture, #"{"add":[{"id":"a","v":1}]}"#, receipt: request).isReplay
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(replays == 7)
    #expect(try await fixture.info().lastSequence == 2)
  }
}
