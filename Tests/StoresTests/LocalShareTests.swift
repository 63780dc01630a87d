import Documents
import NIOConcurrencyHelpers
import StoreTesting
import TestSupport
import Testing

@testable import Stores

/// Whose local documents a store holds, and how many.
@Suite struct LocalShareTests {
  private let clock = TestClock()
  /// For how many bytes the store has asked.
  private let asked = NIOLockedValueBox<[Int64]>([])
  private let done: Answering<Void> = { _ in
    KeptAnswer(status: 200, body: [UInt8](repeating: 0x31, count: 300))
  }
  private static let checkpoint = #"{"session_id":"s","history":[]}"#

  @Test(.bug(id: "34/23")) func memberWhoFillsAShareTakesNothingFromOthers() async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list)) { store async throws in
      for number in 0..<4 { try await write(store, "\(number)", as: one) }
      #expect(await code { try await write(store, "x", as: one) } == .quotaExceeded)
      #expect(await code { try await write(store, "0", bytes: 500, as: one) } == .quotaExceeded)
      for number in 4..<8 { try await write(store, "\(number)", as: other) }
      let receipt = WriteReceipt(
        WriteReceipt.Name(owner: other, token: "key"), request: [1], in: [.list(list)])
      let context = WriteContext(author: .server, receipt: receipt)
      try await store.update(as: context, answer: done) { _ in }
      #expect(receipt.kept != nil)
    }
  }

  /// What members keep in a list's store counts for its owner. A document counts 256 bytes more than its body.
  @Test(.bug(id: "35/30")) func whatMembersKeepCountsForTheList() async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list), room: 2_500) { store async throws in
      let bytes = { try await store.read { view in try StoreRoom.bytes(of: view) } }
      for number in 0..<4 { try await write(store, "\(number)", bytes: 100, as: one) }
      for number in 4..<7 { try await write(store, "\(number)", bytes: 100, as: other) }
      #expect(try await bytes() == 7 * (100 + 256))
      #expect(
        await code { try await write(store, "7", bytes: 100, as: other) } == .quotaExceeded)
      // A member who has no checkpoint can't read the list.
      try await write(store, "cp", Self.checkpoint, as: other)
      #expect(try await bytes() > 2_500)
      for id in ["0", "1"] { try await remove(store, id, as: one) }
      try await write(store, "8", bytes: 100, as: one)
      try await store.forget(writer: other)
      #expect(try await bytes() == 3 * (100 + 256))
      let receipt = WriteReceipt(
        WriteReceipt.Name(owner: one, token: "key"), request: [1], in: [.list(list)])
      let context = WriteContext(author: .server, receipt: receipt)
      try await store.update(as: context, answer: done) { _ in }
      #expect(try await bytes() >= 3 * (100 + 256) + 300 + 256)
      try await store.forget(writer: one)
      #expect(try await bytes() == 0)
    }
  }

  @Test func whatAMemberRemovesIsGivenBack() async throws {
    let one = try id(1)
    try await withStore(.list(id(9)), room: 4 << 20) { store async throws in
      try await write(store, "a", bytes: 100, as: one)
      #expect(asked.withLockedValue { $0 } == [356])
      try await remove(store, "a", as: one)
      #expect(asked.withLockedValue { $0 } == [356, 356])
    }
  }

  @Test func localDocumentOfAnotherMemberIsReadAndNotOverwritten() async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list)) { store async throws in
      try await write(store, "a", as: one)
      #expect(await code { try await write(store, "a", as: other) } == .forbidden)
      #expect(await code { try await remove(store, "a", as: other) } == .forbidden)
      #expect(try await ids(store) == ["a"])
      try await remove(store, "a", as: one)
      try await write(store, "a", as: other)
    }
  }

  /// Regression: who wrote another member's checkpoint first ended each of their sessions.
  @Test func checkpointOfAMemberIsTheirsBeforeItIsWritten() async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list)) { store async throws in
      let prefixes = [one, other].map { LocalID.checkpoints(of: .user($0), in: .list(list)) }
      let names = (prefixes + ["_local/lite/"]).map {
        String($0.dropFirst("_local/".count)) + "cp"
      }
      for name in [names[0], names[2]] {
        #expect(await code { try await write(store, name, as: other) } == .forbidden)
      }
      for (name, member) in zip(names, [one, other]) { try await write(store, name, as: member) }
      #expect(try await ids(store) == names.prefix(2).sorted())
    }
    // Elsewhere there is one writer.
    try await withStore(.user(one)) { store async throws in
      try await write(store, "lite/cp", as: one)
      #expect(LocalID.checkpoints(of: .user(one), in: .user(one)) == "_local/lite/")
    }
  }

  @Test(.bug(id: "34/23")) func shareEndsWithTheMembership() async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list)) { store async throws in
      for number in 0..<4 { try await write(store, "one/\(number)", as: one) }
      try await write(store, "other", as: other)
      for number in 0..<150 {
        let receipt = WriteReceipt(
          WriteReceipt.Name(owner: one, token: "\(number)"), request: [1], in: [.list(list)])
        let context = WriteContext(author: .server, receipt: receipt)
        try await store.update(as: context, answer: done) { _ in }
      }
      try await store.forget(writer: one)
      #expect(try await ids(store) == ["other"])
      let left = try await store.read { view in
        var ids: [String] = []
        try view.locals(DocumentRange()) { id, _ in
          ids.append(id.text)
          return true
        }
        return ids
      }
      #expect(!left.contains { $0.contains(one.text) } && left.contains { $0.contains(other.text) })
      try await write(store, "one/0", as: other)
    }
  }

  /// The membership ends between the look at it and the update.
  @Test(.bug(id: "34/23")) func formerMemberLeavesNothingBehind() async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list)) { store async throws in
      try await write(store, "a", as: one)
      try await store.update { changes in try changes.setListWriters([(one, true), (other, true)]) }
      try await write(store, "b", as: one)
      try await store.update { changes in try changes.setListWriters([(other, true)]) }
      try await store.forget(writer: one)
      #expect(await code { try await write(store, "c", as: one) } == .absent)
      let receipt = WriteReceipt(
        WriteReceipt.Name(owner: one, token: "key"), request: [1], in: [.list(list)])
      let context = WriteContext(author: .user(one), receipt: receipt)
      let keyed = await code { try await store.update(as: context, answer: done) { _ in } }
      #expect(keyed == .absent)
      try await write(store, "d", as: other)
      #expect(try await ids(store) == ["d"])
      try await store.update { changes in try changes.setListWriters([(other, true), (one, true)]) }
      try await write(store, "a", as: one)
      // The removal goes on when they have joined again.
      try await store.forget(writer: one)
      #expect(try await ids(store) == ["a", "d"])
    }
  }

  /// A device goes on without what was refused of it. The reader may have left and joined again in between.
  @Test(arguments: [false, true])
  func devicesOfAReaderWhoMayWriteBeginAgain(hasLeft: Bool) async throws {
    let (list, one, other) = (try id(9), try id(1), try id(2))
    try await withStore(.list(list)) { store async throws in
      let setRole = { (mayWrite: Bool) in
        try await store.update { changes in
          try changes.setListWriters([(one, mayWrite), (other, true)])
        }
      }
      try await setRole(false)
      try await write(store, "cp1", Self.checkpoint, as: one)
      try await write(store, "cp2", Self.checkpoint, as: other)
      try await write(store, "note", as: one)
      try await setRole(true)
      #expect(try await ids(store) == ["cp1", "cp2", "note"])
      try await setRole(false)
      try await store.update { changes in
        let refused = LocalID(stored: LocalID.refused(by: one) + "x")
        changes.write(LocalEdit(refused, LocalDocument(revision: 1, body: [])))
        if hasLeft { try changes.setListWriters([(other, true)]) }
      }
      try await setRole(true)
      #expect(try await ids(store) == ["cp2", "note"])
      let bytes = try await store.read { view in try StoreRoom.bytes(of: view) }
      #expect(bytes == Int64(Self.checkpoint.utf8.count + 2 + 2 * 256))
    }
  }

  @Test(.bug(id: "34/23"), arguments: [true, false])
  func checkpointThatWasNotWrittenForLongestMakesRoomForANewOne(isShared: Bool) async throws {
    let one = try id(1)
    try await withStore(isShared ? .list(id(9)) : .user(one)) { store async throws in
      try await write(store, "note", as: one)
      for number in 0..<3 { try await write(store, "\(number)", Self.checkpoint, as: one) }
      try await write(store, "0", Self.checkpoint, as: one)
      try await write(store, "new", Self.checkpoint, as: one)
      #expect(try await ids(store) == ["0", "2", "new", "note"])
      // Documents of another shape get no room from checkpoints, and never go.
      #expect(await code { try await write(store, "other", as: one) } == .quotaExceeded)
      for number in 10..<20 { try await write(store, "\(number)", Self.checkpoint, as: one) }
      #expect(try await ids(store) == ["17", "18", "19", "note"])
      try await remove(store, "17", as: one)
      try await write(store, "other", as: one)
      #expect(try await ids(store) == ["18", "19", "note", "other"])
    }
  }

  @Test func shapeOfACheckpointIsBothMembers() {
    for (text, isCheckpoint) in [
      (Self.checkpoint, true), (#"{"session_id":"s"}"#, false), (#"{"history":[]}"#, false),
      (#"{"session_id":1,"history":[]}"#, false), (#"{"session_id":"s","history":{}}"#, false),
      ("[]", false), ("x", false),
    ] {
      let document = LocalDocument(revision: 1, body: Array(text.utf8))
      #expect(document.isCheckpoint == isCheckpoint, "\(text)")
    }
  }

  private func id(_ number: UInt8) throws -> AccountID {
    try #require(AccountID(String(repeating: "\(number)", count: 32)))
  }

  private func write(
    _ store: DocumentStore, _ id: String, _ text: String? = nil, bytes: Int = 2,
    as account: AccountID
  ) async throws {
    let body = text.map { Array($0.utf8) } ?? [UInt8](repeating: 0x31, count: bytes)
    try await edit(store, id, LocalDocument(revision: 1, body: body), account)
    clock.advance(seconds: 1)
  }

  private func remove(
    _ store: DocumentStore, _ id: String, as account: AccountID
  ) async throws { try await edit(store, id, nil, account) }

  private func edit(
    _ store: DocumentStore, _ id: String, _ document: LocalDocument?, _ account: AccountID
  ) async throws {
    try await store.update(as: WriteContext(author: .user(account))) { changes in
      changes.write(LocalEdit(LocalID(stored: "_local/" + id), document))
    }
  }

  private func ids(_ store: DocumentStore) async throws -> [String] {
    try await store.read { view in
      var ids: [String] = []
      try view.locals(.below(LocalID.clientPrefix)) { id, _ in
        ids.append(String(id.text.dropFirst(LocalID.clientPrefix.count)))
        return true
      }
      return ids
    }
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return (error as? ServiceError)?.code }
    return nil
  }

  private func withStore(
    _ name: StoreName, room: Int64 = .max, _ use: (DocumentStore) async throws -> Void
  ) async throws {
    let limits = StoreLimits(
      documents: 100, bytes: 1 << 20, localDocuments: 4, localBytes: 400)
    let rooms = RoomGiver(concerns: { _ in room < .max }) { [asked] _, _, bytes in
      asked.withLockedValue { $0.append(bytes) }
      guard bytes <= room else { throw ServiceError(.quotaExceeded, "The owner has no more room") }
      return RoomGiver.Given(bytes: room)
    }
    let manager = DatabaseManager(
      engine: MemoryEngine(), maximumOpen: 1, idleSeconds: 60, limits: { _ in limits },
      now: { [clock] in clock.now }, rooms: rooms, clock: ManualClock())
    try await manager.withStore(name) { store in try await use(store) }
    await manager.close()
  }
}
