import Documents
import NIOConcurrencyHelpers
import StoreRecords
package import Stores

/// What stores counted when they were last open, so that an operator can be told without opening them.
///
/// Kept in memory: a commit that wrote it into the registry would cost another fsync. Whoever is looked at after a
/// start has been opened by then or is opened by the daily sweep.
final class KnownCounts: Sendable {
  /// Stores of the younger half; of twice as many the counts are kept at most, about 200 bytes each.
  static let half = 32_768

  private struct State {
    /// Those that were noted last.
    var young: [String: StoreCounts] = [:]
    /// Those that were noted before these.
    var old: [String: StoreCounts] = [:]
  }

  private let capacity: Int
  private let state = NIOLockedValueBox(State())

  /// Knows of no store.
  /// - Parameter half: see ``half``.
  init(half: Int = KnownCounts.half) { capacity = max(1, half) }

  /// Takes what an open store counts.
  func note(_ header: StoreHeader) {
    let counts = StoreCounts(
      documents: header.live, deleted: header.deleted, lastSequence: header.lastSequence)
    state.withLockedValue { state in
      if state.young.count >= capacity, state.young[header.key] == nil {
        state.old = state.young
        state.young = [:]
      }
      state.young[header.key] = counts
    }
  }

  /// Forgets a store that is gone.
  func forget(_ key: String) {
    state.withLockedValue { state in
      state.young[key] = nil
      state.old[key] = nil
    }
  }

  /// What a store counted; nil where that is not known.
  subscript(key: String) -> StoreCounts? {
    state.withLockedValue { $0.young[key] ?? $0.old[key] }
  }
}

extension FileEngine {
  /// Looks at the stores' files and their logs. What can't be looked at is left out, for an operator wants to see the
  /// others all the more.
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    let (directory, known) = (directory, counters.figures)
    return await LaneWork(registryLane).run {
      names.map { name in
        let file = directory.file(for: name.key)
        let entries = [file.path, file.logPath].compactMap { try? Disk.entry(at: $0) }
        return StoreFigures(
          name, bytes: entries.isEmpty ? nil : entries.reduce(0) { $0 + $1.size },
          changedAt: entries.map(\.changed).max().map { Timestamp(milliseconds: $0) },
          counts: known[name.key])
      }
    }
  }
}
