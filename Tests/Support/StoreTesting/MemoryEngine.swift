package import Documents
import NIOConcurrencyHelpers
package import Scheduling
package import Stores
import Synchronization

/// An engine that keeps its stores in dictionaries: it does everything that an engine must do, but has no
/// disk. It also refuses calls that ``StorageEngine`` forbids (opening a store twice, erasing an open store),
/// and fails when a test wants it to.
package final class MemoryEngine: StorageEngine {
  /// Counts of the engine's calls.
  package struct Tally: Sendable, Equatable {
    package var open = 0
    /// The most stores that were open at once.
    package var highest = 0
    /// How often a store was opened.
    package var opened = 0
    /// How often a store was created.
    package var created = 0
    /// How often an absent store was asked for and not created.
    package var absent = 0
    /// How many calls broke the rules of ``StorageEngine``.
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
  /// The slice of every read.
  private let slice = NIOLockedValueBox(Slice.endless)
  private let beforeOpening: @Sendable (StoreName) async -> Void

  /// Creates an engine without stores.
  /// - Parameter beforeOpening: runs before each opening, for tests that delay one.
  package init(beforeOpening: @escaping @Sendable (StoreName) async -> Void = { _ in }) {
    self.beforeOpening = beforeOpening
  }

  /// The same number as in an engine with files.
  package let descriptorsPerStore = 3

  /// The counts so far.
  package var tally: Tally { state.withLockedValue { $0.tally } }

  /// Gives every read of a store a slice that is over at once, while `body` runs.
  package func inShortestSlices<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await reading(in: .shortest, body)
  }

  /// Gives every read of a store this slice while `body` runs.
  package func reading<Value>(
    in slice: Slice, _ body: () async throws -> Value
  ) async rethrows -> Value {
    self.slice.withLockedValue { $0 = slice }
    defer { self.slice.withLockedValue { $0 = .endless } }
    return try await body()
  }

  /// Makes every later opening of a store throw `damaged`, or ends this.
  package func setDamaged(_ name: StoreName, _ isDamaged: Bool = true) {
    state.withLockedValue { state in
      if isDamaged { state.damaged.insert(name) } else { state.damaged.remove(name) }
    }
  }

  /// Makes every later update of a store throw, until the store is opened again.
  package func failWrites(to name: StoreName, with error: ServiceError) {
    let file = state.withLockedValue { $0.files[name] }
    file?.writeFault.withLockedValue { $0 = error }
  }

  /// Makes the outcome of one later update of a store unknown: it throws, whether it is committed or not.
  /// - Parameter count: how many updates come before that one.
  package func loseOutcome(in name: StoreName, after count: Int, committing: Bool = true) {
    let file = state.withLockedValue { $0.files[name] }
    file?.loss.withLockedValue { $0 = (count, committing) }
  }

  /// Keeps a copy of a store, as a standby does that falls behind.
  package func keepCopy(of name: StoreName) {
    let file = state.withLockedValue { $0.files[name] }
    guard let file else { return }
    let present = file.state.withLockedValue { $0 }
    file.copy.withLockedValue { $0 = present }
  }

  /// Lets a standby take over: the store's state is the copy's if one was kept, and its epoch is another one.
  package func takeOver(_ name: StoreName) {
    let file = state.withLockedValue { $0.files[name] }
    guard let file else { return }
    let copy = file.copy.withLockedValue { copy in
      defer { copy = nil }
      return copy
    }
    file.state.withLockedValue { state in
      if let copy { state = copy }
      state.beginEpoch()
    }
  }

  /// Makes the engine's disk read-only for ``checkWritable()``.
  package func setReadOnly(_ isReadOnly: Bool) {
    state.withLockedValue { $0.isReadOnly = isReadOnly }
  }

  package func open(
    _ name: StoreName, creating: Bool
  ) async throws -> (any StoreStorage)? {
    await beforeOpening(name)
    return try state.withLockedValue { state -> MemoryStorage? in
      guard !state.damaged.contains(name) else {
        throw ServiceError(.damaged, "The store is damaged")
      }
      guard !state.open.contains(name) else {
        state.tally.violations += 1
        throw ServiceError(.storage, "The store is open already")
      }
      if state.files[name] == nil, !creating {
        state.tally.absent += 1
        return nil
      }
      let isNew = state.files[name] == nil
      if isNew { state.tally.created += 1 }
      let file = state.files[name] ?? MemoryStorage.File()
      file.writeFault.withLockedValue { $0 = nil }
      state.files[name] = file
      state.open.insert(name)
      state.tally.opened += 1
      state.tally.open = state.open.count
      state.tally.highest = max(state.tally.highest, state.open.count)
      return MemoryStorage(file, isNew: isNew, slice) { [weak self] in self?.noteClosed(name) }
    }
  }

  package func erase(_ name: StoreName) async throws -> Bool {
    try state.withLockedValue { state in
      guard !state.open.contains(name) else {
        state.tally.violations += 1
        throw ServiceError(.storage, "The store is open")
      }
      state.damaged.remove(name)
      return state.files.removeValue(forKey: name) != nil
    }
  }

  package func replace(_ name: StoreName, by other: StoreName) async throws {
    try state.withLockedValue { state in
      guard !state.open.contains(name), !state.open.contains(other) else {
        state.tally.violations += 1
        throw ServiceError(.storage, "The store is open")
      }
      guard let file = state.files[other] else { throw ServiceError.absent }
      try state.files[name]?.state.withLockedValue { $0.info }.requireEmpty()
      state.files[other] = nil
      state.damaged.remove(name)
      state.files[name] = file
    }
  }

  package func names(
    in namespace: String, after key: String?, limit: Int, includingErased: Bool
  ) async throws -> [StoreName] {
    let names = state.withLockedValue { Array($0.files.keys) }
    return Array(
      names.filter { $0.namespace.equalsBytes(of: namespace) }
        .filter { name in key.map { $0.precedesBytes(of: name.key) } ?? true }
        .sorted { $0.key.precedesBytes(of: $1.key) }
        .prefix(max(0, limit)))
  }

  package func checkWritable() throws {
    guard state.withLockedValue({ $0.isReadOnly }) else { return }
    throw ServiceError(.readOnly, "The disk is read-only")
  }

  package func close() async {}

  private func noteClosed(_ name: StoreName) {
    state.withLockedValue { state in
      state.open.remove(name)
      state.tally.open = state.open.count
    }
  }
}

/// A store in memory. Its content belongs to its ``MemoryEngine`` and stays when the store is closed.
package final class MemoryStorage: StoreStorage {
  /// The content of a store, and the errors that a test has set for it.
  final class File: Sendable {
    let state = NIOLockedValueBox(MemoryState())
    let copy = NIOLockedValueBox<MemoryState?>(nil)
    let writeFault = NIOLockedValueBox<ServiceError?>(nil)
    /// How many updates come before the one whose outcome is lost, and whether that one is committed; nil for none.
    let loss = NIOLockedValueBox<(left: Int, commits: Bool)?>(nil)

    /// Counts an update.
    /// - Returns: whether it is committed; nil if its outcome is not lost.
    func lossOfNext() -> Bool? {
      loss.withLockedValue { loss in
        guard let (left, commits) = loss else { return nil }
        loss = left > 0 ? (left - 1, commits) : nil
        return left == 0 ? commits : nil
      }
    }
  }

  package let reads = ReadCounter()

  package let isNew: Bool
  private let file: File
  private let slice: NIOLockedValueBox<Slice>
  private let onClose: @Sendable () -> Void
  private let isClosed = Atomic<Bool>(false)

  init(
    _ file: File, isNew: Bool, _ slice: NIOLockedValueBox<Slice>,
    onClose: @escaping @Sendable () -> Void
  ) {
    self.file = file
    self.slice = slice
    self.isNew = isNew
    self.onClose = onClose
    // The thread sanitizer does not see that the task that opens a store may go on on another thread.
    isClosed.store(false, ordering: .releasing)
  }

  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try requireOpen()
    let snapshot = file.state.withLockedValue { $0 }
    reads.count(\.states)
    let slice = slice.withLockedValue { $0 }
    return try query(MemoryView(slice: slice, state: snapshot, now: nil, reads: reads))
  }

  package func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    try requireOpen()
    if let fault = file.writeFault.withLockedValue({ $0 }) { throw fault }
    let loss = file.lossOfNext()
    let slice = slice.withLockedValue { $0 }
    let value = try file.state.withLockedValue { state in
      var changes = StoreChanges(of: MemoryView(slice: slice, state: state, now: now))
      let value = try rule(&changes)
      guard loss ?? true else { return value }
      try state.commit(changes, at: now)
      reads.count(\.commits)
      return value
    }
    guard loss == nil else { throw ServiceError(.outcomeUnknown, "No answer came") }
    return value
  }

  package func compact() async throws { try requireOpen() }

  package func close() async {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    onClose()
  }

  private func requireOpen() throws {
    guard isClosed.load(ordering: .acquiring) else { return }
    throw ServiceError(.unavailable, "The store is closed")
  }
}

/// Counts of the reads and commits of a store in memory, for tests about costs.
package final class ReadCounter: Sendable {
  /// Numbers of reads and commits.
  package struct Counts: Sendable, Equatable {
    /// How often a state of the store was read.
    package var states = 0
    /// How many trees were read.
    package var trees = 0
    /// How many winners were read by their ids.
    package var documents = 0
    package var commits = 0
  }

  private let state = NIOLockedValueBox(Counts())

  package init() {}

  package var counts: Counts { state.withLockedValue { $0 } }

  func count(_ what: WritableKeyPath<Counts, Int>) {
    state.withLockedValue { $0[keyPath: what] += 1 }
  }
}
