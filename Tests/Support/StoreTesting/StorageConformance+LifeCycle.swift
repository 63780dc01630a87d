import Documents
import Stores
import TestSupport

extension StorageConformance {
  /// Claims about stores as a whole.
  static let lifeCycle: [Claim] = [
    Claim("a store is new when it is created, and not when it is opened again") { bench in
      var generator = SeededGenerator(seed: 9)
      let name = StoreName.user(.random(using: &generator))
      let created = try await bench.open(name)
      try require(created.isNew, is: true, "after the creation")
      await created.close()
      let again = try await bench.open(name)
      try require(again.isNew, is: false, "after another opening")
      await again.close()
    },
    Claim("a new store is empty and has an epoch of its own") { bench in
      try await bench.withStorage { storage in
        let info = try await storage.info()
        try require(
          [info.documentCount, info.deletedCount, info.lastSequence, info.bodyBytes],
          is: [0, 0, 0, 0], "counts")
        try require(Hex.bytes(info.epoch.utf8)?.count, is: 16, "bytes of the epoch")
        try require(try await storage.changes(), is: [], "changes")
        try require(try await storage.ids(in: DocumentRange(includesDeleted: true)), is: [], "ids")
      }
    },
    Claim("counts follow every change") { bench in
      try await bench.withStorage { storage in
        let (a, b) = (try DocumentID("a"), try DocumentID("b"))
        let first = try await storage.put(a, #"{"x":1}"#)
        try await storage.put(b, #"{"y":22}"#)
        try await requireCounts(of: storage, documents: 2, deleted: 0, sequence: 2, bytes: 7 + 8)
        let second = try await storage.put(a, #"{"x":123}"#, base: first)
        try await requireCounts(of: storage, documents: 2, deleted: 0, sequence: 3, bytes: 9 + 8)
        let third = try await storage.put(a, "{}", base: second, isDeleted: true)
        try await requireCounts(of: storage, documents: 1, deleted: 1, sequence: 4, bytes: 2 + 8)
        try await storage.put(a, #"{"x":1}"#, base: third)
        try await requireCounts(of: storage, documents: 2, deleted: 0, sequence: 5, bytes: 7 + 8)
      }
    },
    Claim("everything survives closing and opening") { bench in
      let (a, b) = (try DocumentID("a"), try DocumentID("caf\u{e9}"))
      let note = try LocalID(client: "_local/x")
      let before: Snapshot = try await {
        let storage = try await bench.open()
        let first = try await storage.put(a, #"{"type":"t","n":1.0}"#)
        try await storage.put(a, #"{"type":"t","n":2}"#, base: first)
        try await storage.put(b, #"{"x":1}"#)
        _ = try await storage.graft(a, [try RevisionID("1-z")], #"{"lost":1}"#)
        try await storage.setLocal(note, LocalDocument(revision: 3, body: [1, 2]))
        let snapshot = try await Snapshot(of: storage, ids: [a, b], note: note)
        await storage.close()
        return snapshot
      }()
      let opened = try await bench.engine.open(StorageBench.name, creating: false)
      let storage = try required(opened, "the store")
      let after = try await Snapshot(of: storage, ids: [a, b], note: note)
      try require(after, is: before, "the state")
      try await storage.put(try DocumentID("c"), "{}")
      try require(
        try await storage.info().lastSequence, is: before.info.lastSequence + 1, "next sequence")
      await storage.close()
    },
    Claim("an absent store that is not to be made stays absent") { bench in
      let absent = try await bench.engine.open(StorageBench.name, creating: false)
      try require(absent == nil, "an absent store was opened")
      try require(
        try await bench.engine.names(in: "system", after: nil, limit: 9), is: [], "names")
      let again = try await bench.engine.open(StorageBench.name, creating: false)
      try require(again == nil, "asking made the store")
      try require(try await bench.engine.erase(StorageBench.name), is: false, "erasing it")
    },
    Claim("an erased store is absent, and one made anew is empty with another epoch") { bench in
      var storage = try await bench.open()
      try await storage.put(try DocumentID("a"), #"{"secret":1}"#)
      try await storage.setLocal(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1]))
      let epoch = try await storage.info().epoch
      await storage.close()
      try require(try await bench.engine.erase(StorageBench.name), is: true, "erased")
      let absent = try await bench.engine.open(StorageBench.name, creating: false)
      try require(absent == nil, "an erased store was opened")
      try require(try await bench.engine.erase(StorageBench.name), is: false, "erased twice")
      storage = try await bench.open()
      let info = try await storage.info()
      try require(info.epoch != epoch, "the epoch is the old one")
      try require(info.documentCount + info.lastSequence, is: 0, "counts")
      try require(try await storage.document(try DocumentID("a"))?.id, is: nil, "the document")
      try require(try await storage.local(LocalID(receipt: "x")), is: nil, "the local document")
      await storage.close()
    },
    Claim("the epoch of a store stays the same when it is opened again") { bench in
      var epochs: Set<String> = []
      for _ in 0..<3 {
        let storage = try await bench.open()
        epochs.insert(try await storage.info().epoch)
        await storage.close()
      }
      try require(epochs.count, is: 1, "epochs")
    },
    Claim("stores never see each other's documents") { bench in
      let id = try DocumentID("a")
      var generator = SeededGenerator(seed: 1)
      let account = AccountID.random(using: &generator)
      let names: [StoreName] = [
        .guest(account), .user(account), .list(account),
        .named(try required(DatabaseName("guest/\(account.text)"), "a name like a guest's key")),
      ]
      for (number, name) in names.enumerated() {
        let storage = try await bench.open(name)
        try await storage.put(id, "{\"n\":\(number)}")
        await storage.close()
      }
      for (number, name) in names.enumerated() {
        let storage = try await bench.open(name)
        try require(try await storage.document(id)?.text, is: "{\"n\":\(number)}", "\(name.key)")
        try require(try await storage.info().lastSequence, is: 1, "changes of \(name.key)")
        await storage.close()
      }
    },
    Claim("names come page by page in byte order, one namespace at a time") { bench in
      let texts = ["a", "a-b", "a/b", "ab", "b(1)", "z"]
      for text in texts.reversed() {
        let name = StoreName.named(try required(DatabaseName(text), text))
        await (try await bench.open(name)).close()
      }
      await (try await bench.open(.system)).close()
      let keys = texts.map { "named/" + $0 }.sorted { $0.precedesBytes(of: $1) }
      var (found, last): ([String], String?) = ([], nil)
      while true {
        let page = try await bench.engine.names(in: "named", after: last, limit: 2)
        try require(page.count <= 2, "a page of \(page.count)")
        guard let end = page.last else { break }
        found += page.map(\.key)
        last = end.key
      }
      try require(found, is: keys, "names")
      try require(
        try await bench.engine.names(in: "system", after: nil, limit: 9), is: [.system], "system")
      try require(try await bench.engine.names(in: "guest", after: nil, limit: 9), is: [], "guests")
      try bench.engine.checkWritable()
    },
  ]

  private static func requireCounts(
    of storage: any StoreStorage, documents: Int64, deleted: Int64, sequence: Int64, bytes: Int64,
    line: UInt = #line
  ) async throws {
    let info = try await storage.info()
    try require(
      [info.documentCount, info.deletedCount, info.lastSequence, info.bodyBytes],
      is: [documents, deleted, sequence, bytes], "counts", line: line)
  }
}

/// All that can be read from a store.
private struct Snapshot: Sendable, Equatable {
  var info: StoreInfo
  var changes: [Change]
  var documents: [[String]]
  var trees: [RevisionTree?]
  var bodies: [String?]
  var local: LocalDocument?

  init(of storage: any StoreStorage, ids: [DocumentID], note: LocalID) async throws {
    info = try await storage.info()
    changes = try await storage.changes()
    (documents, trees, bodies) = ([], [], [])
    for id in ids {
      let document = try required(try await storage.document(id), "\(id)")
      documents.append([
        document.text, document.revision.description, document.created.rfc3339,
        document.updated.rfc3339, "\(document.sequence)", "\(document.isDeleted)",
      ])
      let tree = try await storage.tree(id)
      trees.append(tree)
      for node in tree?.nodes ?? [] { bodies.append(try await storage.body(id, node.revision)) }
    }
    local = try await storage.local(note)
  }
}

extension StorageConformance {
  static let compaction: [Claim] = [
    Claim("compaction changes nothing that a store holds, and the store goes on after it") {
      bench in
      let (index, local) = (IndexID("index"), LocalID(receipt: "note"))
      try await bench.withStorage { storage in
        try await storage.compact()
        let filler = String(repeating: "x", count: 4_000)
        for number in 0..<150 {
          let id = try DocumentID("d\(number)")
          try await storage.put(id, "{\"n\":\(number),\"f\":\"\(filler)\"}")
        }
        try await storage.edit(try advance(index, [("d1", [1]), ("d149", [2])], upTo: 150))
        try await storage.setLocal(local, LocalDocument(revision: 3, body: [1, 2]))
        for number in 10..<149 { try await storage.purge(try DocumentID("d\(number)")) }
        let before = try await everything(storage, index, local)
        for _ in 0..<2 {
          try await storage.compact()
          try require(try await everything(storage, index, local), is: before, "what is held")
        }
        try await storage.put(try DocumentID("later"), "{}")
      }
      try await bench.withStorage { storage in
        let info = try await storage.info()
        try require(info.documentCount, is: 12, "documents")
        try require(info.lastSequence, is: 290, "last sequence")
        try require(try await storage.ids(in: index), is: ["d1", "d149"], "the index")
      }
    },
    Claim("reads and writes that come during a compaction are answered") { bench in
      try await bench.withStorage { storage in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<60 {
            let id = try DocumentID("\(number)")
            group.addTask { try await storage.put(id, "{}") }
            group.addTask { _ = try await storage.document(id) }
            if number.isMultiple(of: 12) { group.addTask { try await storage.compact() } }
          }
          try await group.waitForAll()
        }
        try require(try await storage.info().documentCount, is: 60, "documents")
      }
    },
    Claim("a closed storage is not compacted") { bench in
      let storage = try await bench.open()
      await storage.close()
      do {
        try await storage.compact()
        throw ConformanceFailure(description: "it was")
      } catch let error as ServiceError { try require(error.code, is: .unavailable, "code") }
    },
  ]

  /// The complete content of the claim's store, as text.
  private static func everything(
    _ storage: any StoreStorage, _ index: IndexID, _ local: LocalID
  ) async throws -> [String] {
    try await storage.read { view in
      var found = ["\(try view.info())", "\(try view.changes(after: 0, limit: 999))"]
      try view.documents(DocumentRange(includesDeleted: true)) { document in
        found.append("\(document)")
        return true
      }
      try view.entries(index, IndexRange()) { entry in
        found.append("\(entry)")
        return true
      }
      let (sequence, document) = (try view.indexedSequence(index), try view.local(local))
      found.append("\(String(describing: sequence)) \(String(describing: document))")
      return found
    }
  }
}
