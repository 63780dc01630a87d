import Documents
import StoreTesting
import Stores
import Testing

/// Fills a store with everything that a store can contain, and lists what a store shows.
struct FullStore {
  /// The time of the writes.
  private static let now = Timestamp(seconds: 1_800_000_000)

  /// Fills a store.
  static func fill(_ name: StoreName, in engine: any StorageEngine) async throws {
    var random = RandomStore(seed: 19)
    let manager = random.manager(of: engine)
    try await manager.withStore(name) { try await random.fill($0) }
    await manager.close()
    let store = try await engine.store(name)
    try await editOften("often", 1_150, in: store)
    try await branch("branches", 40, in: store)
    try await fillPages(of: store)
    try await fillLocals(of: store)
    try await leaveGaps(in: store)
    await store.close()
  }

  /// A history so long that its oldest revisions are forgotten and others are stored in pieces.
  private static func editOften(
    _ id: String, _ times: Int, in store: any StoreStorage
  ) async throws {
    var base: RevisionID?
    for number in 0..<times { base = try await store.put(id, "{\"n\":\(number)}", base: base) }
  }

  /// A document with many leaves, some of them tombstones. The digests of some are words.
  private static func branch(
    _ text: String, _ count: Int, in store: any StoreStorage
  ) async throws {
    let id = try DocumentID(text)
    let root = try await store.put(text, #"{"type":"tree"}"#)
    for number in 0..<count {
      let digest = number % 3 == 0 ? "w\(number)" : Hex.string(1, UInt64(number))
      let body = try DocumentBody(parsing: Array("{\"branch\":\(number)}".utf8))
      try await store.update(loading: [id], at: now) { changes in
        changes.author = .administrator
        changes.write(
          try Edit.insert(
            id, in: try changes.view.tree(id),
            history: [RevisionID(generation: 2, digest: digest), root], body: body,
            isDeleted: number % 4 == 0, known: nil))
      }
    }
  }

  /// More documents than a page has rows, and more bytes of winners and of ancestors than a page has.
  private static func fillPages(of store: any StoreStorage) async throws {
    try await store.update(loading: [], at: now) { changes in
      for number in 0..<600 {
        let body = try DocumentBody(parsing: Array("{\"type\":\"small\",\"n\":\(number)}".utf8))
        try changes.put(try DocumentID("small \(number)"), base: nil, body: body)
      }
    }
    let text = (0..<30).map { "\"m\($0)\":\"\(String(repeating: "é", count: 15_000))\"" }
      .joined(separator: ",")
    for number in 0..<4 {
      var base: RevisionID?
      for edit in 0..<3 {
        base = try await store.put(
          "large\(number)", "{\"e\":\(edit),\(text)}", base: base)
      }
    }
  }

  private static func fillLocals(of store: any StoreStorage) async throws {
    try await store.update(loading: [], at: Timestamp(milliseconds: 0)) { changes in
      for number in 0..<300 {
        let body = Array("{\"seq\":\(number)}".utf8)
        changes.write(
          LocalEdit(
            try LocalID(client: "_local/point\(number)"),
            LocalDocument(revision: Int64(number + 1), body: body)))
      }
      for (name, moment) in [("past", 1), ("future", 4_000_000_000_000)] {
        changes.write(
          LocalEdit(
            LocalID(receipt: name), LocalDocument(revision: 1, body: [0, 255]),
            expires: Timestamp(milliseconds: Int64(moment))))
      }
    }
  }

  /// Tombstones, purged documents and numbers that no document has any more, at the end too.
  private static func leaveGaps(in store: any StoreStorage) async throws {
    let deleted = try DocumentID("small 7")
    try await store.update(loading: [deleted], at: now) { changes in
      try changes.delete(deleted, base: try changes.view.document(deleted)?.revision)
    }
    for id in ["small 1", "small 599", "large3"].map({ DocumentID(stored: $0) }) {
      try await store.update(loading: [id], at: now) { changes in
        changes.purge(Purge(id: id, tree: RevisionTree()))
      }
    }
  }

  /// All that a store shows, as text.
  static func told(_ name: StoreName, by engine: any StorageEngine) async throws -> [String] {
    let store = try #require(try await engine.open(name, creating: false))
    let lines = try await store.read { view in
      var lines = ["\(try view.info()) \(try view.localUsage(of: LocalID.clientPrefix))"]
      for since in Int64(0)...(try view.info().lastSequence + 1) where since % 50 < 3 {
        lines.append("after \(since): \(try view.changes(after: since, limit: 40))")
        lines.append("to \(since): \(try view.changes(upTo: since, limit: 40))")
        lines.append("count after \(since): \(try view.changeCount(after: since))")
      }
      for change in try view.changes(after: 0, limit: .max) {
        lines.append("\(change)")
        let tree = try view.tree(change.id)
        lines.append("\(tree?.nodes ?? []) \(tree?.closedBytes ?? [])")
        for node in tree?.nodes ?? [] {
          let body = try view.body(change.id, node.revision)
          guard let body else { continue }
          lines.append("\(node.revision) \(body.hashValue) \(body.count)")
          lines.append("\(String(describing: try view.kept(change.id, node.revision)))")
        }
      }
      try view.documents(DocumentRange(includesDeleted: true)) { document in
        lines.append("\(document.id) \(document.created) \(document.updated)")
        return true
      }
      try view.locals(DocumentRange()) { id, document in
        lines.append("\(id) \(document)")
        return true
      }
      let expired = try view.expiredLocals(at: Timestamp(milliseconds: .max), limit: 9)
      lines.append("\(expired.map(\.text).sorted()) \(try view.ids(ofType: "small"))")
      return lines
    }
    await store.close()
    return lines
  }
}
