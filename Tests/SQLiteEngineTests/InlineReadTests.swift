import Dispatch
import Documents
import SQLiteEngine
import StoreTesting
import Stores
import TestSupport
import Testing

@Suite struct InlineReadTests {
  @Test func inlineReadSeesWhatWasCommittedBefore() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    for number in 0..<50 {
      let revision = try await storage.put("document-\(number)", #"{"n":\#(number)}"#)
      let seen = try await storage.readInline { view in
        try view.document(DocumentID(stored: "document-\(number)"))
      }
      #expect(seen?.revision == revision)
      #expect(seen?.body == Array(#"{"n":\#(number)}"#.utf8))
    }
    await storage.close()
    await engine.close()
  }

  @Test func inlineReadWaitsForItsTurnWhileTheStoreIsAtWork() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    let released = DispatchSemaphore(value: 0)
    let holder = Task { try await storage.read { _ in released.wait() } }
    let inlineReads = (0..<4).map { _ in
      Task {
        try await storage.readInline { view in try view.info().lastSequence }
      }
    }
    released.signal()
    try await holder.value
    for readInline in inlineReads { #expect(try await readInline.value == 0) }
    await storage.close()
    await engine.close()
  }

  @Test func inlineReadOfAClosedStoreFails() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    await storage.close()
    await #expect(throws: ServiceError.self) {
      try await storage.readInline { view in try view.info().lastSequence }
    }
    await engine.close()
  }
}
