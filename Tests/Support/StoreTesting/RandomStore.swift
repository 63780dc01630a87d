import Documents
import NIOConcurrencyHelpers
package import Stores
import TestSupport

/// Creates stores with everything that a store can contain: long histories, conflicts, tombstones, removed
/// branches, notes. The same seed creates the same store.
package struct RandomStore {
  private var generator: SeededGenerator
  private let moment = NIOLockedValueBox(Timestamp.start)

  /// Notes that are exported and imported with documents, and notes that are only exported.
  package static let notes = PortableNotes(kept: ["facts/"], told: ["guest/"])

  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// The name of a user's store.
  package mutating func name() throws -> StoreName { .user(.random(using: &generator)) }

  /// A manager whose clock advances with each document that is made.
  package func manager(of engine: any StorageEngine) -> DatabaseManager {
    DatabaseManager(
      engine: engine, maximumOpen: 4, now: { [moment] in moment.withLockedValue { $0 } })
  }

  package mutating func fill(_ store: DocumentStore) async throws {
    for number in 0..<14 {
      let id = try DocumentID(number.isMultiple(of: 3) ? "h/\(number) é\u{301}" : "h\(number)")
      try await makeHistory(of: id, in: store)
      let note = LocalID(receipt: (number.isMultiple(of: 4) ? "guest/" : "facts/") + id.text)
      let body = Array(#"{"n":\#(number),"s":"\u00e9\n"}"#.utf8)
      try await store.update { changes in
        changes.write(LocalEdit(note, LocalDocument(revision: 3, body: body)))
      }
    }
  }

  /// Makes random edits and grafts, some of them on old revisions, each at another time.
  private mutating func makeHistory(of id: DocumentID, in store: DocumentStore) async throws {
    for step in 0..<Int.random(in: 1...40, using: &generator) {
      let seconds = Int64.random(in: 1...90_000, using: &generator)
      moment.withLockedValue { $0 = $0.adding(seconds: seconds) }
      let body = try DocumentBody(parsing: Array(#"{"type":"t","step":\#(step),"x":1.0}"#.utf8))
      let tree = try await store.read { view in try view.tree(id) }
      let dice = Int.random(in: 0..<10, using: &generator)
      if let tree, dice < 3, let node = tree.nodes.randomElement(using: &generator) {
        // A peer's branch. Sometimes the digest of its newest revision is a word.
        let word = dice == 0 ? "w\(step)" : Hex.string(generator.next(), generator.next())
        let newest = RevisionID(generation: node.revision.generation + 1, digest: word)
        let history = [newest] + tree.history(of: node.revision)
        let isDeleted = Bool.random(using: &generator)
        try await store.update(loading: [id]) { changes in
          let known = try changes.view.tree(id)
          changes.write(
            try Edit.insert(
              id, in: known, history: history, body: body, isDeleted: isDeleted, known: nil))
        }
      } else if let tree, dice == 3 {
        try await shrink(tree, of: id, in: store)
      } else {
        let base = tree?.leaves.randomElement(using: &generator)?.revision
        let isDeleted = base != nil && dice < 6
        try await store.update(loading: [id]) { changes in
          try changes.put(id, base: base, body: isDeleted ? .empty : body, isDeleted: isDeleted)
        }
      }
    }
  }

  /// Removes branches that were closed long ago, as merges do.
  private func shrink(
    _ tree: RevisionTree, of id: DocumentID, in store: DocumentStore
  ) async throws {
    let today = moment.withLockedValue { $0.day }
    var rest = tree
    rest.shrinkClosedBranches(on: today - 200)
    rest.shrinkClosedBranches(on: today)
    guard rest != tree, let winner = rest.winner else { return }
    var mutation = Mutation(id: id, tree: rest, revision: winner.revision, body: nil)
    mutation.removesClosedBranches = true
    let change = mutation
    try await store.update(loading: [id]) { changes in changes.write(change) }
  }

  package func export(
    of name: StoreName, from manager: DatabaseManager
  ) async throws -> [UInt8] {
    guard let id = AccountID(String(repeating: "a", count: 32)) else { return [] }
    let account = ExportedAccount(id: id, kind: "user", username: "anna", created: nil)
    var export = AccountExport(
      of: account, made: .start, from: manager, [(name: ExportFormat.own, store: name)],
      Self.notes)
    var bytes: [UInt8] = []
    while let piece = try await export.next() { bytes += piece }
    return bytes
  }

  /// Imports an export that arrives in pieces of random length.
  package mutating func read(
    _ export: [UInt8], into name: StoreName, of manager: DatabaseManager
  ) async throws -> ExportCounts {
    var pieces: [[UInt8]] = []
    var rest = export[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...5_000, using: &generator)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let parts = pieces
    return try await manager.fill(name) { store in
      var reading = AccountImport(into: store, as: .server, Self.notes)
      for part in parts { try await reading.take(part) }
      return try await reading.finish()
    }
  }

  /// The lines of an export that describe the store's content: without the lines about the account, sections
  /// and sums.
  package static func told(_ export: [UInt8]) -> [String] {
    let facts = [#"{"export""#, #"{"section""#, #"{"end""#, #"{"note":"guest/"#, #"{"manifest""#]
    return export.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
      .filter { line in !facts.contains { line.utf8.starts(with: $0.utf8) } }
  }
}
