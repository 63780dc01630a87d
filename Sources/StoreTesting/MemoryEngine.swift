import Documents
import NIOConcurrencyHelpers
package import Stores

/// An engine over plain dictionaries: full semantics, no disk. It also refuses what the port
/// forbids its callers (a name open twice, erasing an open store), and fails where a test wants it
/// to.
package final class MemoryEngine: StorageEngine {
  /// What the engine has been asked so far.
  package struct Tally: Sendable, Equatable {
    /// Stores that are open now.
    package var open = 0
    /// The most stores that were open at once.
    package var highest = 0
    /// How often a store was opened.
    package var opened = 0
    /// How often a store was made.
    package var created = 0
    /// How often an absent store was asked for and not made.
    package var absent = 0
    /// Calls that the port forbids.
    package var violations = 0
  }

  private struct State {
    var files: [StoreName: MemoryStorage.File] = [:]
    var open: Set<StoreName> = []
    var damaged: Set<StoreName> = []
    var isReadOnly = false
    var tally = Tally()
  }

  private let state = NIOLockedValueBox(State())
  private let beforeOpening: @Sendable (StoreName) async -> Void

  /// An engine without stores.
  /// - Parameter beforeOpening: runs before each opening, for tests that hold one up.
  package init(beforeOpening: @escaping @Sendable (StoreName) async -> Void = { _ in }) {
    self.beforeOpening = beforeOpening
  }

  /// Like a file-based engine's.
  package let descriptorsPerStore = 3

  /// What the engine has been asked.
  package var tally: Tally { state.withLockedValue { $0.tally } }

  /// Makes every later opening of a store throw `damaged`, or mends it.
  package func setDamaged(_ name: StoreName, _ isDamaged: Bool = true) {
    state.withLockedValue { state in
      if isDamaged { state.damaged.insert(name) } else { state.damaged.remove(name) }
    }
  }

  /// Makes every later update of a store throw, until it is opened again.
  package func failWrites(to name: StoreName, with error: StoreError) {
    let file = state.withLockedValue { $0.files[name] }
    file?.writeFault.withLockedValue { $0 = error }
  }

  /// Makes the engine's disk read-only for ``checkWritable()``.
  package func setReadOnly(_ isReadOnly: Bool) {
    state.withLockedValue { $0.isReadOnly = isReadOnly }
  }

  package func open(
    _ name: StoreName, creating: Bool
  ) async throws(StoreError) -> (any StoreStorage)? {
    await beforeOpening(name)
    return try state.withLockedRule { state throws(StoreError) -> MemoryStorage? in
      guard !state.damaged.contains(name) else {
        throw StoreError(.damaged, "The store is damaged")
      }
      guard !state.open.contains(name) else {
        state.tally.violations += 1
        throw StoreError(.storage, "The store is open already")
      }
      if state.files[name] == nil, !creating {
        state.tally.absent += 1
        return nil
      }
      if state.files[name] == nil { state.tally.created += 1 }
      let file = state.files[name] ?? MemoryStorage.File()
      file.writeFault.withLockedValue { $0 = nil }
      state.files[name] = file
      state.open.insert(name)
      state.tally.opened += 1
      state.tally.open = state.open.count
      state.tally.highest = max(state.tally.highest, state.open.count)
      return MemoryStorage(file) { [weak self] in self?.closed(name) }
    }
  }

  package func erase(_ name: StoreName) async throws(StoreError) -> Bool {
    try state.withLockedRule { state throws(StoreError) in
      guard !state.open.contains(name) else {
        state.tally.violations += 1
        throw StoreError(.storage, "The store is open")
      }
      state.damaged.remove(name)
      return state.files.removeValue(forKey: name) != nil
    }
  }

  package func names(
    in namespace: String, after key: String?, limit: Int
  ) async throws(StoreError) -> [StoreName] {
    let names = state.withLockedValue { Array($0.files.keys) }
    return Array(
      names.filter { $0.namespace.equalsBytes(of: namespace) }
        .filter { name in key.map { $0.precedesBytes(of: name.key) } ?? true }
        .sorted { $0.key.precedesBytes(of: $1.key) }
        .prefix(max(0, limit)))
  }

  package func checkWritable() throws(StoreError) {
    guard state.withLockedValue({ $0.isReadOnly }) else { return }
    throw StoreError(.readOnly, "The disk is read-only")
  }

  package func close() async {}

  private func closed(_ name: StoreName) {
    state.withLockedValue { state in
      state.open.remove(name)
      state.tally.open = state.open.count
    }
  }
}
