import Documents
import Hotels
import Stores
import Testing

@Suite struct BatchServiceTests {
  private func change(
    _ hall: Hall, _ text: String, receipt: ReceiptRequest? = nil
  ) async throws -> BatchAnswer {
    try await hall.service.change(batch(text), in: hall.user, receipt: receipt)
  }

  private func receipt(_ key: String, _ fingerprint: UInt8 = 1) throws -> ReceiptRequest {
    try #require(
      ReceiptRequest(key: key, fingerprint: Array(repeating: fingerprint, count: 32)))
  }

  @Test func everyItemHasItsStatus() async throws {
    let hall = try Hall()
    try await hall.add(ids: "old", "same", "gone")
    let answer = try await change(
      hall,
      #"{"add":[{"id":"new","v":1},{"id":"old","v":2},{"id":"same"}],"remove":["gone","never"]}"#)
    #expect(answer.results.map(\.status) == [201, 200, 200, 204, 404])
    #expect(answer.results.map(\.id.text) == ["new", "old", "same", "gone", "never"])
    #expect(try await hall.ids() == ["new", "same", "old"])
    #expect(!answer.isReplay)
    #expect(
      answer.bytes.text.hasPrefix(
        #"{"results":[{"id":"new","status":201},{"id":"old","status":200,"replaced":true},"#))
  }

  @Test func batchIsAllOrNothing() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a")
    try await hall.put("taken", #"{"type":"note"}"#)
    let before = try await hall.info()
    for text in [
      #"{"add":[{"id":"b","v":1},{"id":"taken","v":1}],"remove":["a"]}"#,
      #"{"add":[{"id":"b","v":1},{"id":"c","type":"inn"}],"remove":["a"]}"#,
    ] {
      #expect(await code { _ = try await change(hall, text) } != nil)
      #expect(try await hall.info() == before)
    }
    #expect(try await hall.ids() == ["a"])
  }

  @Test func batchBeyondTheQuotaChangesNothing() async throws {
    let hall = try Hall(limits: { _ in
      StoreLimits(documents: 3, bytes: 4_096, history: HistoryLimits(revisions: 20))
    })
    try await hall.add(ids: "a")
    #expect(
      await code { _ = try await change(hall, #"{"add":[{"id":"b","v":1},{"id":"c","v":1}]}"#) }
        == .store)
    #expect(try await hall.ids() == ["a"])
  }

  @Test func keyBeyondADaysNumberIsRefusedAndThoseBeforeAreStillAnswered() async throws {
    let hall = try Hall()
    for number in 0..<Int(StoreLimits.receipts) {
      _ = try await change(hall, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("\(number)"))
    }
    let text = #"{"remove":["a"]}"#
    #expect(await code { _ = try await change(hall, text, receipt: receipt("new")) } == .store)
    #expect(try await hall.ids() == ["a"])
    #expect(try await change(hall, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("0")).isReplay)
    #expect(try await change(hall, text).results.map(\.status) == [204])
    hall.clock.turn(bySeconds: BookmarkLimits.receiptSeconds)
    #expect(!(try await change(hall, text, receipt: receipt("new")).isReplay))
  }

  @Test func removingFromAnAbsentStoreMakesNone() async throws {
    let hall = try Hall()
    let answer = try await hall.service.change(batch(#"{"remove":["a"]}"#), in: hall.guest)
    #expect(answer.results.map(\.status) == [404])
    #expect(answer.undo.isEmpty)
    await #expect(throws: StoreError.self) { try await hall.info(in: hall.guest) }
  }

  @Test func repeatedKeyIsAnsweredAndNotDoneAgain() async throws {
    let hall = try Hall()
    try await hall.add(#"{"id":"gone","n":1.50}"#)
    let text = #"{"add":[{"id":"new","v":1}],"remove":["gone","never"]}"#
    let first = try await change(hall, text, receipt: receipt("key"))
    try await hall.add(#"{"id":"gone","n":2}"#)
    let state = try await hall.info()
    let again = try await change(hall, text, receipt: receipt("key"))
    #expect(again.isReplay)
    #expect(again.bytes == first.bytes)
    #expect(try await hall.info() == state)
    let other = try await change(hall, text, receipt: receipt("KEY"))
    #expect(!other.isReplay)
  }

  @Test func keyOfAnotherRequestIsRefused() async throws {
    let hall = try Hall()
    _ = try await change(hall, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("key"))
    #expect(
      await code {
        _ = try await change(hall, #"{"add":[{"id":"b","v":1}]}"#, receipt: receipt("key", 2))
      } == .receiptMismatch)
    #expect(try await hall.ids() == ["a"])
  }

  @Test func receiptIsForgottenAfterADay() async throws {
    let hall = try Hall()
    let text = #"{"add":[{"id":"a","v":1}]}"#
    _ = try await change(hall, text, receipt: receipt("key"))
    hall.clock.turn(bySeconds: BookmarkLimits.receiptSeconds - 1)
    #expect(try await change(hall, text, receipt: receipt("key")).isReplay)
    hall.clock.turn(bySeconds: 1)
    let late = try await change(hall, text, receipt: receipt("key", 2))
    #expect(!late.isReplay)
    #expect(late.results.map(\.status) == [200])
    #expect(try await change(hall, text, receipt: receipt("key", 2)).isReplay)
  }

  @Test func failedBatchLeavesNoReceipt() async throws {
    let hall = try Hall()
    try await hall.put("taken", #"{"type":"note"}"#)
    #expect(
      await code {
        _ = try await change(hall, #"{"add":[{"id":"taken","v":1}]}"#, receipt: receipt("key"))
      } == .occupied)
    let answer = try await change(hall, #"{"add":[{"id":"a","v":1}]}"#, receipt: receipt("key", 2))
    #expect(!answer.isReplay)
  }

  @Test func concurrentRetriesAreDoneOnce() async throws {
    let hall = try Hall()
    let request = try receipt("key")
    let replays = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await change(hall, #"{"add":[{"id":"a","v":1}]}"#, receipt: request).isReplay
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(replays == 7)
    #expect(try await hall.info().lastSequence == 2)
  }
}
