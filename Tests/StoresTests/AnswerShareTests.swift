import Documents
import StoreTesting
import TestSupport
import Testing

@testable import Stores

/// How much a store keeps of the answers to one person's writes.
@Suite struct AnswerShareTests {
  private let clock = TestClock()

  @Test(.bug(id: "34/25")) func bodiesOfTheOldestAnswersGoAndTheirKeysStay() async throws {
    try await withStore(receipts: 100, bytes: 5_000) { store async throws in
      let one = try person(1)
      for number in 0..<20 { try await write(store, one, number, bytes: 1_000) }
      for number in 0..<20 {
        let known = try #require(try await answer(store, one, number))
        #expect(known.status == 201 && known.isGone == (number < 16), "\(number)")
        // Nothing is done twice.
        await #expect(throws: WriteReceipt.AnsweredBefore.self) {
          try await write(store, one, number, bytes: 1_000)
        }
      }
      #expect(try await bytes(store, one) <= 5_000)
      await #expect(throws: ServiceError.receiptMismatch) {
        try await write(store, one, 0, bytes: 1, request: 2)
      }
    }
  }

  @Test(.bug(id: "34/25")) func moreWritesWithKeysThanTheFormerThousandAreKnown() async throws {
    #expect(StoreLimits.mostReceipts > 10_000)
    try await withStore { store async throws in
      let one = try person(1)
      for number in 0..<1_200 { try await write(store, one, number, bytes: 2) }
      #expect(try await answer(store, one, 0)?.isGone == false)
    }
  }

  @Test func lastKnownWriteFitsAndTheNextDoesNot() async throws {
    try await withStore(receipts: 3) { store async throws in
      let (one, other) = (try person(1), try person(2))
      for number in 0..<3 { try await write(store, one, number, bytes: 400) }
      #expect(await code { try await write(store, one, 3, bytes: 400) } == .quotaExceeded)
      // A stored answer may be written again, and another person has a share of their own.
      try await store.keep(KeptAnswer(status: 202), of: receipt(one, 0), as: .server)
      try await write(store, other, 0, bytes: 400)
      clock.advance(seconds: StoreLimits.receiptSeconds + 3_600)
      try await write(store, one, 3, bytes: 400)
      #expect(try await answer(store, one, 0) == nil)
    }
  }

  @Test func shareOfOnePersonIsNotUsedByAnother() async throws {
    try await withStore(receipts: 10, bytes: 2_000) { store async throws in
      let (one, other) = (try person(1), try person(2))
      try await write(store, one, 0, bytes: 1_500)
      for number in 0..<10 { try await write(store, other, number, bytes: 1_500) }
      #expect(try await answer(store, one, 0)?.isGone == false)
    }
  }

  @Test func answerLargerThanTheShareIsGoneAtOnceAndTakesNoOthersRoom() async throws {
    try await withStore(receipts: 10, bytes: 2_000) { store async throws in
      let one = try person(1)
      try await write(store, one, 0, bytes: 1_000)
      try await write(store, one, 1, bytes: 3_000)
      #expect(try await answer(store, one, 0)?.isGone == false)
      #expect(try await answer(store, one, 1)?.isGone == true)
    }
  }

  @Test func answerThatIsReplacedIsNotCountedTwice() async throws {
    try await withStore(receipts: 2, bytes: 2_000) { store async throws in
      let one = try person(1)
      try await write(store, one, 0, bytes: 1_000)
      for _ in 0..<5 {
        let body = [UInt8](repeating: 0x31, count: 1_000)
        try await store.keep(KeptAnswer(status: 200, body: body), of: receipt(one, 0), as: .server)
      }
      try await write(store, one, 1, bytes: 500)
      #expect(try await answer(store, one, 0)?.isGone == false)
      #expect(try await answer(store, one, 1)?.isGone == false)
    }
  }

  @Test(.bug(id: "34/10")) func secretIsNowhereInTheStoreAndWhatWasMadeIsNamed() async throws {
    try await withStore { store async throws in
      let receipt = try receipt(person(1), 0, keepsBody: false)
      let answer = KeptAnswer(
        status: 201, fields: [KeptAnswer.Field(name: "Location", value: "/v1/made")],
        body: Array(#"{"token":"the secret"}"#.utf8))
      try await carryOut(receipt, answer, store)
      try await store.keep(answer, of: receipt, as: .server)
      let known = try #require(try await store.answer(kept: receipt.name))
      #expect(known.isGone && known.status == 201 && known.location == "/v1/made")
      let texts = try await store.read { view in
        var texts: [String] = []
        try view.locals(DocumentRange()) { _, document in
          texts.append(String(decoding: document.body, as: UTF8.self))
          return true
        }
        return texts
      }
      #expect(!texts.isEmpty && !texts.contains { $0.contains("secret") })
    }
  }

  private func person(_ number: UInt8) throws -> AccountID {
    try #require(AccountID(String(repeating: "\(number)", count: 32)))
  }

  private func receipt(
    _ owner: AccountID, _ number: Int, request: UInt8 = 1, keepsBody: Bool = true
  ) throws -> WriteReceipt {
    WriteReceipt(
      WriteReceipt.Name(owner: owner, token: "\(number)"), request: [request], in: [.system],
      keepsBody: keepsBody)
  }

  private func carryOut(
    _ receipt: WriteReceipt, _ answer: KeptAnswer, _ store: DocumentStore
  ) async throws {
    let context = WriteContext(author: .server, receipt: receipt)
    let whole: Answering<Void> = { _ in answer }
    try await store.update(as: context, answer: whole) { _ in }
  }

  private func write(
    _ store: DocumentStore, _ owner: AccountID, _ number: Int, bytes: Int, request: UInt8 = 1
  ) async throws {
    let receipt = try receipt(owner, number, request: request)
    let answer = KeptAnswer(status: 201, body: [UInt8](repeating: 0x31, count: bytes))
    try await carryOut(receipt, answer, store)
    // Answers are in the order of their times.
    clock.advance(seconds: 1)
  }

  private func answer(
    _ store: DocumentStore, _ owner: AccountID, _ number: Int
  ) async throws -> KeptAnswer? {
    try await store.answer(kept: receipt(owner, number).name)
  }

  private func bytes(_ store: DocumentStore, _ owner: AccountID) async throws -> Int64 {
    try await store.read { view in
      let stored = try view.localUsage(of: AnswerKeys.contents(of: owner)).bytes
      #expect(try AnswerLedger(below: AnswerKeys.sums(of: owner), in: view).bytes == stored)
      return stored
    }
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return (error as? ServiceError)?.code }
    return nil
  }

  private func withStore(
    receipts: Int64 = StoreLimits.mostReceipts, bytes: Int64 = StoreLimits.mostReceiptBytes,
    _ use: (DocumentStore) async throws -> Void
  ) async throws {
    let limits = StoreLimits(
      documents: .max, bytes: .max, receipts: receipts, receiptBytes: bytes)
    let manager = DatabaseManager(
      engine: MemoryEngine(), maximumOpen: 1, idleSeconds: 60, limits: { _ in limits },
      now: { [clock] in clock.now }, clock: ManualClock())
    try await manager.withStore(.system) { store in try await use(store) }
    await manager.close()
  }
}
