import Documents
import Stores
import TestSupport

extension StorageConformance {
  /// Claims about a store that replaces another one, and about exports and imports.
  static let replacing: [Claim] = [
    Claim("a store takes an empty one's place with all that it holds") { bench in
      let (id, note) = (try DocumentID("a"), LocalID(receipt: "facts/a"))
      let (name, staged) = try names()
      let old = try await bench.open(name)
      try await old.setLocal(LocalID(receipt: "facts/old"), LocalDocument(revision: 1, body: [1]))
      await old.close()
      let storage = try await bench.open(staged)
      let revisions = try await storage.putChain(id, count: 3)
      try await storage.setLocal(note, LocalDocument(revision: 2, body: [1]))
      let info = try await storage.info()
      await storage.close()
      try await bench.engine.replace(name, by: staged)
      let absent = try await bench.engine.open(staged, creating: false)
      try require(absent == nil, "the staged store is there still")
      for namespace in [StoreName.stagedNamespace, name.namespace] {
        let found = try await bench.engine.names(in: namespace, after: nil, limit: 9)
        try require(found, is: namespace == name.namespace ? [name] : [], "names")
      }
      let replaced = try await bench.open(name)
      try require(try await replaced.info(), is: info, "counts and epoch")
      let former = try await replaced.local(LocalID(receipt: "facts/old"))
      try require(former == nil, "the old note is there")
      try require(
        try await replaced.tree(id)?.nodes.map(\.revision), is: revisions, "the history")
      try require(try await replaced.local(note)?.revision, is: 2, "the note")
      try await replaced.put(id, "{}", base: revisions.last)
      await replaced.close()
      let again = try await bench.open(name)
      try require(try await again.info().lastSequence, is: info.lastSequence + 1, "sequence")
      await again.close()
    },
    Claim("a store takes the place of none") { bench in
      let (name, staged) = try names()
      let storage = try await bench.open(staged)
      try await storage.put(try DocumentID("a"), "{}")
      await storage.close()
      try await bench.engine.replace(name, by: staged)
      let replaced = try required(
        try await bench.engine.open(name, creating: false), "the store")
      try require(try await replaced.info().documentCount, is: 1, "documents")
      await replaced.close()
    },
    Claim("a store with a document or a tombstone keeps its place") { bench in
      for isDeleted in [false, true] {
        let (name, staged) = try names(seed: isDeleted ? 2 : 3)
        let id = try DocumentID("old")
        let old = try await bench.open(name)
        let revision = try await old.put(id, "{}")
        if isDeleted { try await old.put(id, "{}", base: revision, isDeleted: true) }
        let info = try await old.info()
        await old.close()
        await (try await bench.open(staged)).close()
        do {
          try await bench.engine.replace(name, by: staged)
          throw ConformanceFailure(description: "it was replaced")
        } catch let error as ServiceError { try require(error.code, is: .notEmpty, "code") }
        _ = try await bench.engine.erase(staged)
        let still = try await bench.open(name)
        try require(try await still.info(), is: info, "counts and epoch")
        await still.close()
      }
    },
    Claim("an absent store replaces no other") { bench in
      let (name, staged) = try names()
      let old = try await bench.open(name)
      try await old.put(try DocumentID("old"), "{}")
      await old.close()
      do {
        try await bench.engine.replace(name, by: staged)
        throw ConformanceFailure(description: "it did")
      } catch let error as ServiceError { try require(error.code, is: .absent, "code") }
      let still = try await bench.open(name)
      try require(try await still.info().documentCount, is: 1, "documents")
      await still.close()
    },
    Claim("a document keeps the times that a mutation gives it") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let (created, updated) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
        try await storage.update(loading: [id], at: .start) { changes in
          var mutation = try Edit.put(id, in: nil, base: nil, body: .empty)
          (mutation.created, mutation.updated) = (created, updated)
          changes.write(mutation)
        }
        let document = try required(try await storage.document(id), "the document")
        try require([document.created, document.updated], is: [created, updated], "times")
      }
    },
    Claim("what is exported is there after an import, with every revision, body and time") {
      bench in
      var sum = ExportCounts()
      for seed in UInt64(0)..<12 {
        var random = RandomStore(seed: seed)
        let (source, target) = (try random.name(), try random.name())
        let manager = random.manager(of: bench.engine)
        try await manager.withStore(source) { try await random.fill($0) }
        let export = try await random.export(of: source, from: manager)
        let counts = try await random.read(export, into: target, of: manager)
        let again = try await random.export(of: target, from: manager)
        try require(
          RandomStore.told(again), is: RandomStore.told(export), "the export of seed \(seed)")
        sum += counts
        await manager.close()
      }
      try require(
        sum.documents > 99 && sum.tombstones > 9 && sum.bodies > 999 && sum.notes > 99,
        "the stores are dull: \(sum)")
    },
  ]

  private static func names(seed: UInt64 = 1) throws -> (StoreName, StoreName) {
    var generator = SeededGenerator(seed: seed)
    let name = StoreName.user(.random(using: &generator))
    return (name, .staged(name, by: .random(using: &generator)))
  }
}
