package import Documents
package import Lanes
package import Stores

/// Rebuilding stores from damaged files.
extension FileEngine {
  /// The result of rebuilding a store.
  package struct Salvage: Sendable {
    /// The number of documents in the new file.
    package let documents: Int
    /// The ids of lost documents, as far as they are known; at most ``Damage/maximumNamed``.
    package let lost: [String]
    /// How many documents more the damaged file counted; nil when its count is lost.
    package let missing: Int?
    /// Whether nothing was lost and the store keeps its epoch.
    package let isWhole: Bool

    /// The result as a text for the operator.
    package var message: String {
      guard !isWhole else { return "its pages were damaged; all of it was read and written anew" }
      let rest = missing.map { "\($0) documents are lost" } ?? "it is not known how many are lost"
      return "its pages were damaged; \(documents) documents were read and written anew, \(rest); "
        + "the damaged file is kept beside it"
    }
  }

  /// Rebuilds a store from the rows that its damaged file still contains. No caller may have the store open.
  ///
  /// The accounts' store is replaced only if nothing is lost; see ``RepairOutcome``.
  /// - Parameter lane: the lane of the work. It reads the whole file, which takes seconds.
  /// - Returns: nil for a store that does not exist.
  /// - Throws: `damaged` when the store can't be rebuilt; the file is then not replaced. `storage`, `storageFull`, `moved`.
  package func salvage(
    _ name: StoreName, at now: Timestamp, on lane: Lane
  ) async throws -> Salvage? {
    try await translating {
      guard let entry = try await registry.entry(name.key), !entry.isErasing else { return nil }
      let salvage = StoreSalvage(
        file: directory.file(for: name.key), key: name.key, blank: blank, now: now)
      let outcome = try await access.change(name.key) {
        let outcome = try await LaneWork(lane).run { () throws in
          try salvage.run(
            epoch: entry.epoch, name == .system ? .withoutLoss : .everything)
        }
        // If the process stops before this line, the epochs of the file and of the registry differ, and the store is
        // rebuilt once more.
        if !outcome.epoch.equalsBytes(of: entry.epoch) {
          try await registry.set(.init(epoch: outcome.epoch), for: name.key)
        }
        return outcome
      }
      return Salvage(
        documents: outcome.documents, lost: outcome.lost, missing: outcome.missing,
        isWhole: outcome.isWhole)
    }
  }
}
