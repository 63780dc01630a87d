import SQLiteEngine
import StoreRecords
import Stores

/// Copies all stores of one engine to another, which nobody else may use meanwhile.
struct StoreMove: Sendable {
  /// How many stores are copied at the same time. While one waits for the disk or the database, others are read.
  private static let copiesAtOnce = 4
  /// How many names are listed at a time.
  private static let namesAtOnce = 500

  let source: any CopyingEngine
  let target: any CopyingEngine
  /// Whether other processes may use the source meanwhile, as for a backup.
  let whileUsed: Bool

  /// A move that has not begun.
  init(
    from source: any CopyingEngine, to target: any CopyingEngine, whileUsed: Bool = false
  ) {
    self.source = source
    self.target = target
    self.whileUsed = whileUsed
  }

  /// What was moved.
  struct Summary: Sendable {
    /// Stores that were copied and compared.
    var stores = 0
    /// Documents of these, tombstones included.
    var documents: Int64 = 0
    /// Bytes of their bodies.
    var bytes: Int64 = 0
    /// Stores that an earlier, interrupted move had copied.
    var earlier = 0
    /// Stores that were not copied because they are damaged.
    var damaged = 0

    /// - Parameter outcome: nil for a damaged store.
    fileprivate mutating func add(_ outcome: StoreTransfer.Outcome?) {
      switch outcome {
      case nil: damaged += 1
      case .copied(let documents, let bytes):
        stores += 1
        self.documents += documents
        self.bytes += bytes
      case .alreadyThere: earlier += 1
      case .absent: break
      }
    }
  }

  /// Copies every store.
  ///
  /// In a move the accounts come last, because without them nobody can use the target. A damaged store is reported and
  /// left out; then the accounts are left out too. While the source is used, the accounts come first, so that a guest who
  /// becomes a user meanwhile is still a guest with all bookmarks.
  /// - Throws: ``MoveError`` when the target has stores that are not the source's; the errors of both engines.
  func run(_ report: BackupAdministration.Report) async throws -> Summary {
    try await target.removeUnfinishedCopies()
    var summary = Summary()
    let others = try await count(in: source)
    let total = others + 1
    var done = 0
    if whileUsed { summary.add(try await copy(.system, report)) }
    for namespace in StoreName.namespaces where namespace != StoreName.system.namespace {
      try await Self.eachPage(of: namespace, in: source) { names in
        try await copy(names, report) { outcome in
          summary.add(outcome)
          done += 1
          report.stores(done, of: total)
        }
      }
    }
    if !whileUsed {
      if summary.damaged == 0 { summary.add(try await copy(.system, report)) }
      if summary.damaged == 0 { try await requireNoOthers(than: others) }
    }
    try await target.removeUnfinishedCopies()
    return summary
  }

  /// Checks that the target has no store that the source does not have. Such a store may be one that was erased in the
  /// source after an earlier move, and must not come back.
  private func requireNoOthers(than total: Int) async throws {
    let found = try await count(in: target)
    guard found != total else { return }
    throw MoveError(
      "The target has \(found) stores, the source \(total); move into an empty place")
  }

  /// Whether an engine has no store.
  static func isEmpty(_ engine: any CopyingEngine) async throws -> Bool {
    for namespace in StoreName.namespaces {
      guard try await engine.names(in: namespace, after: nil, limit: 1).isEmpty else {
        return false
      }
    }
    return true
  }

  /// How many stores there are beside the accounts'.
  private func count(in engine: any CopyingEngine) async throws -> Int {
    var count = 0
    for namespace in StoreName.namespaces where namespace != StoreName.system.namespace {
      try await Self.eachPage(of: namespace, in: engine) { count += $0.count }
    }
    return count
  }

  /// Visits the names of a namespace, in byte order.
  static func eachPage(
    of namespace: String, in engine: any CopyingEngine,
    _ visit: ([StoreName]) async throws -> Void
  ) async throws {
    var last: String?
    while true {
      let names = try await engine.names(in: namespace, after: last, limit: namesAtOnce)
      guard let end = names.last else { return }
      try await visit(names)
      last = end.key
    }
  }

  private func copy(
    _ names: [StoreName], _ report: BackupAdministration.Report,
    _ take: (StoreTransfer.Outcome?) -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: StoreTransfer.Outcome?.self) { group in
      for (index, name) in names.enumerated() {
        try Task.checkCancellation()
        if index >= Self.copiesAtOnce, let outcome = try await group.next() { take(outcome) }
        group.addTask { try await copy(name, report) }
      }
      for try await outcome in group { take(outcome) }
    }
  }

  /// - Returns: nil for a damaged store.
  private func copy(
    _ name: StoreName, _ report: BackupAdministration.Report
  ) async throws -> StoreTransfer.Outcome? {
    do {
      return try await StoreTransfer(from: source, to: target, whileUsed: whileUsed).copy(name)
    } catch let error as ServiceError where StoreBackups.isDamage(error) {
      report.finding("\(name.key): \(StoreBackups.message(of: error))")
      return nil
    } catch let error as ServiceError where error.code == .absent {
      // It was erased after the names were listed.
      return .absent
    } catch let error as ServiceError where error.code == .exists {
      throw MoveError("\(error.reason): \(name.key); move into an empty place")
    }
  }
}
