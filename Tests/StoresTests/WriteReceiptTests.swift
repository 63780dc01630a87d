import Documents
import StoreTesting
import Testing

@testable import Stores

@Suite struct WriteReceiptTests {
  private let engine = MemoryEngine()
  private let id = DocumentID(stored: "a")

  @Test func answerIsWrittenWithTheWriteAndSaysWhatWasChanged() async throws {
    try await withStore { store async throws in
      let receipt = try receipt()
      let answer: Answering<RevisionID> = { KeptAnswer(status: 201, body: $0.json) }
      let revision = try await store.update(as: context(receipt), answer: answer) { changes in
        try changes.put(id, base: nil, body: .empty)
      }
      let kept = try #require(try await store.answer(kept: receipt.name, to: receipt.request))
      #expect(kept.status == 201 && kept.body == revision.json)
      #expect(kept.changes == [KeptAnswer.Change(id: id, revision: revision)])
      #expect(receipt.kept == kept)
    }
  }

  @Test func whatWasAnsweredBeforeIsNotDoneAgain() async throws {
    try await withStore { store async throws in
      let (first, again) = (try receipt(), try receipt())
      try await store.update(as: context(first), answer: done) { _ in }
      await #expect(throws: WriteReceipt.AnsweredBefore.self) {
        try await write(to: store, as: context(again))
      }
      #expect(try await store.document(id) == nil)
      let other = try receipt(request: 2)
      await #expect(throws: ServiceError.receiptMismatch) {
        try await write(to: store, as: context(other))
      }
      await #expect(throws: ServiceError.receiptMismatch) {
        try await store.answer(kept: other.name, to: other.request)
      }
    }
  }

  @Test func refusedRuleKeepsNothingAndARefusalThatIsKeptIsNoAnswerToAnother() async throws {
    try await withStore { store async throws in
      let receipt = try receipt()
      await #expect(throws: ServiceError.absent) {
        try await store.update(as: context(receipt), answer: done) { changes in
          try changes.put(id, base: nil, body: .empty)
          throw ServiceError.absent
        }
      }
      #expect(receipt.kept == nil)
      #expect(try await store.answer(kept: receipt.name) == nil)
      let refusal = KeptAnswer(status: 404, body: Array("{}".utf8))
      try await store.keep(refusal, of: receipt, as: .server)
      #expect(try await store.answer(kept: receipt.name)?.isRejection == true)
      let other = try self.receipt(request: 2)
      try await write(to: store, as: context(other))
      try await store.keep(KeptAnswer(status: 503), of: receipt, as: .server)
      #expect(try await store.answer(kept: receipt.name)?.isRejection == false)
    }
  }

  @Test func onlyTheUpdateThatMakesAnAnswerIsAnsweredAndOnlyOnce() async throws {
    try await withStore { store async throws in
      let receipt = try receipt()
      let context = context(receipt)
      try await store.put(id, base: nil, body: .empty, as: context)
      try await store.update(as: context) { _ in 0 }
      #expect(receipt.kept == nil)
      let answer: Answering<Int> = { KeptAnswer(status: 200, body: Array("\($0)".utf8)) }
      for number in 1...2 { try await store.update(as: context, answer: answer) { _ in number } }
      #expect(try await store.answer(kept: receipt.name)?.body == Array("1".utf8))
    }
  }

  @Test func otherStoresAndWhatFollowsTheRequestAreNoPartOfIt() async throws {
    try await withStore { store async throws in
      let foreign = try receipt(in: [])
      try await write(to: store, as: context(foreign))
      #expect(foreign.kept == nil)
      let late = try receipt()
      late.end()
      try await write(DocumentID(stored: "b"), to: store, as: context(late))
      #expect(late.kept == nil)
      #expect(try await store.answer(kept: late.name) == nil)
    }
  }

  @Test func storedAnswerComesBackByteForByteAndEndsWithItsTime() throws {
    let body = Array(#"{ "a" : 1.50,"b":"é\n" }"#.utf8)
    var answer = KeptAnswer(
      status: 200, fields: [KeptAnswer.Field(name: "ETag", value: "\"1-a\"")], body: body)
    answer.changes = [
      KeptAnswer.Change(id: id, revision: RevisionID(generation: 1, digest: "a"))
    ]
    let stored = StoredAnswer(answer, to: [1, 2], expires: Timestamp(seconds: 10))
    let bytes = stored.bytes(contentIn: .inside)
    let read = try #require(StoredAnswer(parsing: bytes, at: Timestamp(seconds: 9)))
    #expect(read.answer == answer && read.request == [1, 2])
    #expect(StoredAnswer(parsing: bytes, at: Timestamp(seconds: 10)) == nil)
    let short = try #require(
      StoredAnswer(parsing: stored.bytes(contentIn: .apart), at: Timestamp(seconds: 9)))
    #expect(short.answer.isGone && short.with(content: stored.content).answer == answer)
    #expect(StoredAnswer(parsing: Array("{}".utf8), at: Timestamp(seconds: 9)) == nil)
  }

  @Test func writeThatIsLateWritesNothingButAnEarlierAnswerComesFirst() async throws {
    try await withStore { store async throws in
      let (past, ahead) = (
        store.now().adding(seconds: -1), store.now().adding(seconds: 60)
      )
      let late = context(try receipt(), until: past)
      await #expect(throws: ServiceError.late) { try await write(to: store, as: late) }
      await #expect(throws: ServiceError.late) {
        try await store.put(id, base: nil, body: .empty, as: late)
      }
      #expect(try await store.document(id) == nil)
      try await write(to: store, as: context(receipt(), until: ahead))
      await #expect(throws: WriteReceipt.AnsweredBefore.self) {
        try await write(to: store, as: context(receipt(), until: past))
      }
    }
  }

  @Test func whatFollowsAStepMayBeLateButNotTheAnswer() throws {
    let deadline = WriteDeadline(Timestamp(seconds: 10))
    let late = Timestamp(seconds: 11)
    for isAnswering in [false, true] {
      try deadline.check(at: Timestamp(seconds: 10), isAnswering: isAnswering)
      #expect(throws: ServiceError.late) { try deadline.check(at: late, isAnswering: isAnswering) }
    }
    deadline.begin()
    #expect(deadline.isOver(at: late))
    try deadline.check(at: late, isAnswering: false)
    #expect(throws: ServiceError.late) { try deadline.check(at: late, isAnswering: true) }
  }

  @Test func refusalOfAnotherWriteWithTheSameKeyIsPassedOver() async throws {
    try await withStore { store async throws in
      let (first, second) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
      let refused = try receipt(accepted: first)
      let refusal = KeptAnswer(status: 412, body: Array("{}".utf8))
      try await store.keep(refusal, of: refused, as: .server)
      let name = refused.name
      #expect(try await store.answer(kept: name, accepted: first)?.status == 412)
      #expect(try await store.answer(kept: name, accepted: second) == nil)
      let carriedOut = try receipt(accepted: first)
      try await write(to: store, as: context(carriedOut))
      #expect(try await store.answer(kept: name, accepted: second)?.isRejection == false)
    }
  }

  private func receipt(
    request: UInt8 = 1, in stores: [StoreName] = [.system], accepted: Timestamp? = nil
  ) throws -> WriteReceipt {
    let owner = try #require(AccountID(String(repeating: "a", count: 32)))
    return WriteReceipt(
      WriteReceipt.Name(owner: owner, token: "token"), request: [request], in: stores,
      accepted: accepted)
  }

  private let done: Answering<Void> = { _ in KeptAnswer(status: 200) }

  /// Creates a document in an update that makes an answer.
  private func write(
    _ id: DocumentID = DocumentID(stored: "a"), to store: DocumentStore, as context: WriteContext
  ) async throws {
    try await store.update(as: context, answer: done) { changes in
      try changes.put(id, base: nil, body: .empty)
    }
  }

  private func context(_ receipt: WriteReceipt, until time: Timestamp? = nil) -> WriteContext {
    WriteContext(author: .server, deadline: time.map { WriteDeadline($0) }, receipt: receipt)
  }

  private func withStore(_ use: (DocumentStore) async throws -> Void) async throws {
    let manager = manager(of: engine, maximumOpen: 1)
    try await manager.withStore(.system) { store in try await use(store) }
    await manager.close()
  }
}

extension RevisionID {
  fileprivate var json: [UInt8] { Array("\"\(self)\"".utf8) }
}
