import Documents
import Stores

extension StorageConformance {
  /// Claims that a repeated run of a read or of a rule leaves no trace.
  static let repetition: [Claim] = [
    Claim("exports, imports and histories are the same however often their steps run") {
      bench in
      for seed in UInt64(0)..<4 {
        var random = RandomStore(seed: 1_000 + seed)
        let (source, target) = (try random.name(), try random.name())
        let manager = random.manager(of: bench.engine)
        try await manager.withStore(source) { try await random.fill($0) }
        let export = try await random.export(of: source, from: manager)
        let histories = try await firstPages(of: source, from: manager)
        await manager.close()

        let repetition = Repetition(seed: seed)
        let repeating = random.manager(of: repetition.engine(over: bench.engine))
        let again = try await random.export(of: source, from: repeating)
        try require(again == export, "the export of seed \(seed) differs")
        let pages = try await firstPages(of: source, from: repeating)
        try require(pages == histories, "the histories of seed \(seed) differ")
        _ = try await random.read(export, into: target, of: repeating)
        let imported = try await random.export(of: target, from: repeating)
        try require(
          RandomStore.told(imported), is: RandomStore.told(export), "the import of seed \(seed)")
        await repeating.close()
        try require(repetition.discarded > 100, "only \(repetition.discarded) runs repeated")
      }
    }
  ]

  /// The first page of each document's history.
  private static func firstPages(
    of name: StoreName, from manager: DatabaseManager
  ) async throws -> [HistoryPage?] {
    try await manager.withExisting(name) { store in
      let ids = try await store.read { view in
        try view.changes(after: 0, limit: 100).map(\.id)
      }
      var pages: [HistoryPage?] = []
      for id in ids { pages.append(try await store.history(of: id, limit: 15)) }
      return pages
    }
  }
}
