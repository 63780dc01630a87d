package import Documents
package import Lanes
package import Stores

/// Making stores anew of damaged files.
extension FileEngine {
  /// What came of making a store anew.
  package struct Salvage: Sendable {
    /// Documents that are there.
    package let documents: Int
    /// Ids of documents that are lost, as far as they are known, and ``Damage/maximumNamed`` at most.
    package let lost: [String]
    /// How many more documents the damaged file counted; nil where it did not say.
    package let missing: Int?
    /// Whether everything is what it was.
    package let isWhole: Bool

    /// In words.
    package var words: String {
      guard !isWhole else { return "its pages were damaged; all of it was read and written anew" }
      let rest = missing.map { "\($0) documents are lost" } ?? "it is not known how many are lost"
      return "its pages were damaged; \(documents) documents were read and written anew, \(rest); "
        + "the damaged file is kept beside it"
    }
  }

  /// Makes a store anew of what its damaged file shows. Nobody may have it open.
  ///
  /// The accounts' store comes out of it whole or not at all: see ``Mending``.
  /// - Parameter lane: where it works: for seconds, as it reads the whole file.
  /// - Returns: nil for a store that is not there.
  /// - Throws: `damaged` where that can't be, the file being as it was; `storage`, `storageFull`.
  package func salvage(
    _ name: StoreName, at now: Timestamp, on lane: Lane
  ) async throws -> Salvage? {
    try await translating {
      guard let entry = try await registry.entry(name.key), !entry.isErasing else { return nil }
      let salvage = StoreSalvage(
        file: directory.file(for: name.key), key: name.key, blank: blank, now: now)
      let outcome = try await LaneWork(lane).run { () throws in
        try salvage.run(
          epoch: entry.epoch, name == .system ? .withoutLoss : .everything)
      }
      // Cut off before this, the file is of another life than the registry knows, and is made anew once more.
      if !outcome.epoch.equalsBytes(of: entry.epoch) {
        try await registry.set(.init(epoch: outcome.epoch), for: name.key)
      }
      return Salvage(
        documents: outcome.documents, lost: outcome.lost, missing: outcome.missing,
        isWhole: outcome.isWhole)
    }
  }
}
