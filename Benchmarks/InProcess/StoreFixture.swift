import Documents
import Foundation
import SQLiteEngine
import Stores
import Synchronization

/// A store on the disk with documents of 1.1 KB.
final class StoreFixture: Sendable {
  private let directory: String
  private let engine: FileEngine
  private let storage: any StoreStorage
  private let body: DocumentBody
  private let documents: Int
  private let reads = Atomic<Int>(0)
  private let writes = Atomic<Int>(0)
  private static let now = Timestamp(seconds: 1_800_000_000)

  /// Creates a store in a new directory below BOOKMARKS_BENCHMARK_DIRECTORY. That directory must be on a disk: in
  /// memory the figures mean nothing.
  init(documents: Int) async throws {
    self.documents = documents
    let parent = ProcessInfo.processInfo.environment["BOOKMARKS_BENCHMARK_DIRECTORY"] ?? "."
    directory = "\(parent)/in-process-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    body = try DocumentBody(parsing: InProcessBenchmarks.hotel)
    engine = try await FileEngine.open(directory: directory + "/data", threads: 2)
    guard let storage = try await engine.open(.system, creating: true) else {
      throw NoStore(reason: "no store in \(directory)")
    }
    self.storage = storage
    for start in stride(from: 0, to: documents, by: 500) {
      let names = (start..<min(start + 500, documents)).map { "doc-\($0)" }
      try await put(names)
    }
  }

  /// Reads one document, another one in each call.
  func read() async throws {
    let number = reads.add(1, ordering: .relaxed).oldValue
    let id = try DocumentID("doc-\(number &* 7_919 % documents)")
    let found = try await storage.readInline { view in try view.document(id) }
    guard found != nil else { throw NoStore(reason: "a document is missing") }
  }

  /// Writes one new document.
  func write() async throws {
    try await put(["new-\(writes.add(1, ordering: .relaxed).newValue)"])
  }

  /// Reads the last `count` changes.
  func changes(_ count: Int) async throws -> [Change] {
    try await storage.read { view in
      let last = try view.info().lastSequence
      return try view.changes(after: last - Int64(count), limit: count)
    }
  }

  /// Closes the store and removes its directory.
  func close() async throws {
    await storage.close()
    await engine.close()
    try FileManager.default.removeItem(atPath: directory)
  }

  private func put(_ names: [String]) async throws {
    let ids = try names.map { try DocumentID($0) }
    let body = body
    try await storage.update(loading: Set(ids), at: Self.now) { changes in
      for id in ids { try changes.put(id, base: nil, body: body) }
    }
  }

  /// There is no store or document to measure.
  struct NoStore: Error {
    /// The cause, as text.
    let reason: String
  }
}
