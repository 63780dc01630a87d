import Documents
import Stores

extension StorageConformance {
  /// Claims about giving space back.
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
      } catch let error as StoreError { try require(error.code, is: .unavailable, "code") }
    },
  ]

  /// All that the claim's store holds, as text.
  private static func everything(
    _ storage: any StoreStorage, _ index: IndexID, _ local: LocalID
  ) async throws -> [String] {
    try await storage.read { view throws(StoreError) in
      var found = ["\(try view.info())", "\(try view.changes(after: 0, limit: 999))"]
      try view.documents(DocumentRange(includesDeleted: true)) { document throws(StoreError) in
        found.append("\(document)")
        return true
      }
      try view.entries(index, IndexRange()) { entry throws(StoreError) in
        found.append("\(entry)")
        return true
      }
      let (sequence, document) = (try view.indexedSequence(index), try view.local(local))
      found.append("\(String(describing: sequence)) \(String(describing: document))")
      return found
    }
  }
}
