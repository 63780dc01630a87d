import Documents
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite struct StoreFiguresTests {
  private static func header(_ key: String, documents: Int64) -> StoreHeader {
    var header = StoreHeader(key: key, epoch: "")
    (header.live, header.lastSequence) = (documents, documents + 1)
    return header
  }

  @Test func countsAreThoseOfTheLastCommit() {
    let known = KnownCounts()
    #expect(known["user/a"] == nil)
    known.note(Self.header("user/a", documents: 1))
    known.note(Self.header("user/a", documents: 2))
    #expect(known["user/a"] == StoreCounts(documents: 2, deleted: 0, lastSequence: 3))
    known.forget("user/a")
    #expect(known["user/a"] == nil)
  }

  @Test func noMoreThanTwoHalvesAreKept() {
    let known = KnownCounts(half: 2)
    for number in 0..<5 { known.note(Self.header("\(number)", documents: Int64(number))) }
    #expect((0..<5).map { known["\($0)"] != nil } == [false, false, true, true, true])
  }
}

@Suite struct StoreFilesTests {
  @Test func figuresAreToldWithoutOpeningAndForgottenWithTheStore() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path + "/data", threads: 1)
    let name = try user(1)
    let store = try await engine.store(name)
    try await store.put("a", #"{"a":1}"#)
    let open = try #require(try await engine.figures(of: [name, user(2)]).first)
    #expect(open.counts == StoreCounts(documents: 1, deleted: 0, lastSequence: 1))
    #expect((open.bytes ?? 0) > 0 && open.changedAt != nil)
    await store.close()
    let closed = try #require(try await engine.figures(of: [name]).first)
    #expect(closed.counts == open.counts)
    _ = try await engine.erase(name)
    let gone = try await engine.figures(of: [name])
    #expect(gone == [StoreFigures(name)])
    await engine.close()
  }
}
