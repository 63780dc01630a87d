import Documents
import NIOConcurrencyHelpers
import Scheduling
package import Stores

/// The counts of stores when they were last open, so that the administrator can see them without opening the stores.
///
/// They are no cache of something that could be read as well: a page of the administrator's list has up to a hundred
/// stores, and to open them would take that many of the slots that clients use. They are kept in memory only, because to
/// write each commit's counts to the registry would cost another fsync. After a start, a store's counts are unknown until
/// a client or the daily sweep opens it.
final class KnownCounts: Sendable {
  /// The number of stores in the younger half. The counts of at most twice as many stores are kept, about 200 bytes
  /// each.
  static let half = 32_768

  private struct State {
    /// The stores that were noted last.
    var young: [String: StoreCounts] = [:]
    /// The stores that were noted before these.
    var old: [String: StoreCounts] = [:]
  }

  private let capacity: Int
  private let state = NIOLockedValueBox(State())

  /// Creates an empty table.
  /// - Parameter half: see ``half``.
  init(half: Int = KnownCounts.half) { capacity = max(1, half) }

  /// Keeps the counts of an open store.
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

  /// Removes the counts of an erased store.
  func forget(_ key: String) {
    state.withLockedValue { state in
      state.young[key] = nil
      state.old[key] = nil
    }
  }

  /// The counts of a store; nil when they are unknown.
  subscript(key: String) -> StoreCounts? {
    state.withLockedValue { $0.young[key] ?? $0.old[key] }
  }
}

extension FileEngine {
  /// Reads the sizes of the stores' files and logs. A file that can't be inspected is left out, so that the
  /// administrator still sees the others.
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    let (directory, known) = (directory, counters.figures)
    return await registryThreads.run {
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
