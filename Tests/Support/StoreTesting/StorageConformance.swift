import Documents
package import Stores

/// The requirements of every storage engine, as claims that are tested one by one. The tests of an engine
/// need these lines:
///
/// ```swift
/// @Test(arguments: StorageConformance.claims)
/// func conforms(to claim: StorageConformance.Claim) async throws {
///   try await StorageConformance { MemoryEngine() }.check(claim)
/// }
/// ```
package struct StorageConformance: Sendable {
  /// One claim about engines, and the code that tests it.
  package struct Claim: Sendable, CustomStringConvertible {
    /// The claim as a sentence.
    package let description: String
    let prove: @Sendable (StorageBench) async throws -> Void

    init(_ sentence: String, _ prove: @escaping @Sendable (StorageBench) async throws -> Void) {
      description = sentence
      self.prove = prove
    }
  }

  package static let claims: [Claim] =
    sequences + counts + bytes + atomicity + documents + histories + purges + locals + attachments
    + indexes + compaction + replacing + repetition + lifeCycle

  private let makeEngine: @Sendable () async throws -> any StorageEngine

  /// Creates a suite for one kind of engine.
  /// - Parameter makeEngine: creates an engine without stores, in a place that no other engine uses.
  package init(makeEngine: @escaping @Sendable () async throws -> any StorageEngine) {
    self.makeEngine = makeEngine
  }

  /// Tests one claim on a new engine, and closes the engine.
  /// - Throws: ``ConformanceFailure``, or what the engine throws.
  package func check(_ claim: Claim) async throws {
    let engine = try await makeEngine()
    do {
      try await claim.prove(StorageBench(engine: engine))
    } catch {
      await engine.close()
      throw error
    }
    await engine.close()
  }
}

/// The error of a claim that does not hold.
package struct ConformanceFailure: Error, CustomStringConvertible {
  /// What was found, and where in the code.
  package let description: String

  package init(description: String) { self.description = description }
}

/// An engine under test, with helper methods.
struct StorageBench: Sendable {
  let engine: any StorageEngine

  /// The store that most claims use.
  static let name = StoreName.system

  /// Opens a store, and creates it if it is absent.
  func open(_ name: StoreName = Self.name) async throws -> any StoreStorage {
    try required(try await engine.open(name, creating: true), "a store that was to be made")
  }

  /// Opens a store while `use` runs, and closes it.
  func withStorage(_ use: (any StoreStorage) async throws -> Void) async throws {
    let storage = try await open()
    do { try await use(storage) } catch {
      await storage.close()
      throw error
    }
    await storage.close()
  }
}

/// Fails the claim unless `condition` holds.
func require(
  _ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  guard !condition else { return }
  throw ConformanceFailure(description: "\(what()) (\(file):\(line))")
}

/// Fails the claim unless both values are equal.
func require<Value: Equatable>(
  _ value: Value, is wanted: Value, _ what: String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  try require(value == wanted, "\(what): \(value) instead of \(wanted)", file: file, line: line)
}

/// Fails the claim if the value is nil.
func required<Value>(
  _ value: Value?, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
  guard let value else {
    throw ConformanceFailure(description: "Missing: \(what) (\(file):\(line))")
  }
  return value
}

extension StorageConformance {
  /// Claims that an update is committed completely or not at all.
  static let atomicity: [Claim] = [
    Claim("a rule that throws changes nothing, not even the sequence counter") { bench in
      try await bench.withStorage { storage in
        let (id, note) = (try DocumentID("a"), LocalID(receipt: "note"))
        let revision = try await storage.put(id, #"{"x":1}"#)
        try await storage.setLocal(note, LocalDocument(revision: 1, body: [1]))
        let before = try await storage.info()
        do {
          try await storage.update(loading: [id], at: .start) { changes in
            changes.write(LocalEdit(note, nil))
            try changes.put(
              try DocumentID("c"), base: nil,
              body: .empty)
            guard try changes.view.document(id) == nil else {
              throw DocumentError.conflict
            }
          }
          throw ConformanceFailure(description: "the error is lost")
        } catch let error as DocumentError {
          try require(error.code, is: .conflict, "the rule's code")
        }
        try require(try await storage.info(), is: before, "counts")
        try require(try await storage.document(id)?.revision, is: revision, "the document")
        try require(try await storage.local(note)?.body, is: [1], "the local document")
        try await storage.put(try DocumentID("b"), "{}")
        try require(try await storage.info().lastSequence, is: 2, "the next sequence")
      }
    },
    Claim("updates that throw take none of their neighbours with them") { bench in
      try await bench.withStorage { storage in
        let kept = try await withThrowingTaskGroup(of: Bool.self) { group in
          for number in 0..<60 {
            group.addTask {
              let id = try DocumentID("\(number)")
              do {
                try await storage.update(loading: [id], at: .start) { changes in
                  try changes.put(id, base: nil, body: .empty)
                  guard !number.isMultiple(of: 3) else { throw DocumentError.conflict }
                }
                return true
              } catch is DocumentError { return false }
            }
          }
          return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        try require(kept, is: 40, "updates that were kept")
        let changes = try await storage.changes()
        try require(changes.map(\.sequence), is: Array(1...40), "sequences")
        for change in changes {
          try require(Int(change.id.text).map { $0 % 3 } != 0, "\(change.id) was to be refused")
        }
        try require(try await storage.info().documentCount, is: 40, "documents")
      }
    },
    Claim("an update sees what those before it wrote, in the same commit too") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("counter")
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<50 { group.addTask { try await increment(id, in: storage) } }
          try await group.waitForAll()
        }
        let document = try required(try await storage.document(id), "the counter")
        try require(document.text, is: #"{"n":50}"#, "the counter")
        try require(document.revision.generation, is: 50, "its generation")
        try require(try await storage.info().lastSequence, is: 50, "last sequence")
        try require(try await storage.tree(id)?.leaves.count, is: 1, "leaves")
      }
    },
    Claim("an update shows one state throughout, and its view the state before it") { bench in
      try await bench.withStorage { storage in
        let (a, b) = (try DocumentID("a"), try DocumentID("b"))
        try await storage.put(a, #"{"type":"t"}"#)
        let seen = try await storage.update(loading: [b], at: .start) {
          changes in
          try changes.put(b, base: nil, body: .empty)
          let (sequence, ids) = (
            try changes.view.info().lastSequence, try changes.view.ids(ofType: "t")
          )
          return [Int(sequence), ids.count]
        }
        try require(seen, is: [1, 1], "sequence and ids in the update")
        try require(try await storage.changes(after: 1).map(\.sequence), is: [2], "sequences")
      }
    },
    Claim("a rule may read and change documents that were not loaded beforehand") { bench in
      try await bench.withStorage { storage in
        let (a, b) = (try DocumentID("a"), try DocumentID("b"))
        let revision = try await storage.put(a, #"{"n":1}"#)
        try await storage.update(loading: [], at: .start) { changes in
          let found = try changes.view.document(a)
          try changes.put(a, base: found?.revision, body: .empty)
          try changes.put(b, base: nil, body: .empty)
        }
        try require(try await storage.changes().map(\.id), is: [a, b], "the feed")
        try require(try await storage.body(a, revision), is: #"{"n":1}"#, "the body of before")
      }
    },
  ]

  private static func increment(_ id: DocumentID, in storage: any StoreStorage) async throws {
    try await storage.update(loading: [id], at: .start) { changes in
      let old = try changes.view.document(id)
      let count = try old.map { old in
        try DocumentBody(parsing: old.body).bytes.filter { (0x30...0x39).contains($0) }
      }
      let next = (count.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0) + 1
      let body = try DocumentBody(parsing: Array("{\"n\":\(next)}".utf8))
      try changes.put(id, base: old?.revision, body: body)
    }
  }
}
