import Documents
import Lists
import SQLiteEngine
import Scheduling
import Stores

/// Repairing stores in use.
extension StoreBackups {
  /// The result of a repair.
  struct Repair: Sendable {
    /// Stores that were read.
    var stores = 0
    /// The findings in their rows.
    var outcome = RepairOutcome()
    /// Stores that can't be opened, so nothing in them can be repaired.
    var damagedStores = 0

    /// Whether something is lost or still damaged.
    var isDamaged: Bool {
      !outcome.lost.isEmpty || outcome.lostAttachments > 0 || outcome.missing > 0
        || outcome.left > 0 || damagedStores > 0
    }

    /// The result as text.
    var message: String {
      let damaged =
        damagedStores > 0
        ? ["\(damagedStores) stores can't be repaired: restore them from a backup"] : []
      let found = outcome.messages + damaged
      return "\(stores) stores looked at; "
        + (found.isEmpty ? "nothing was damaged" : found.joined(separator: "; "))
    }
  }

  /// Reads every store and repairs what is damaged.
  /// - Parameter pause: the rest after each piece of a store, and after each store.
  /// - Throws: `ServiceError`, `CancellationError`.
  func repair(_ reporter: ScrubReporter, pause: Duration = .zero) async throws -> Repair {
    try await repairing { sum in
      _ = try await each(reporter, atOnce: 1) { name in
        // The slow scrub in the background leaves files to an operator.
        let found =
          pause > .zero
          ? try await repair(name, pause: pause) : try await repairWithFile(name, on: sum.threads)
        await sum.add(found, engine.relativePath(of: name), reporter)
        if pause > .zero { try await Task.sleep(for: pause) }
        return true
      }
    }
  }

  /// Replaces the file of one store if that is damaged and can't be repaired. The damaged file stays beside it.
  /// - Parameter store: the store's key, or the file that ``verify(_:)`` names.
  /// - Parameter backup: the path of a backup with a copy of the store; nil to begin the store without documents.
  /// - Returns: the repair of the new file.
  /// - Throws: ``BackupError``, `ServiceError`, `CancellationError`. The store then stays as it is.
  func replace(
    _ store: String, from backup: String?, _ reporter: ScrubReporter
  ) async throws -> Repair {
    guard let name = try await name(of: store) else {
      throw BackupError(.failed, "There is no store \(store)")
    }
    guard name != .system else {
      throw BackupError(.failed, "The accounts come back with a whole backup only: use restore")
    }
    return try await repairing { sum in
      guard case .failure? = try await repairWithFile(name, on: sum.threads) else {
        throw BackupError(.failed, "The store \(store) can be read, or there is none; it stays")
      }
      // Members who came or went since the backup are written to the list's store within half a minute, or at the next
      // start.
      if case .list(let list) = name {
        try await stores.update(.system, as: .server) { try $0.noteEarlier(list) }
      }
      try await stores.withClosed(name) {
        try await engine.replaceDamaged(
          name, by: backup.map { .backup($0) } ?? .nothing, on: sum.threads)
      }
      if case .list = name { try await stores.update(name, as: .server) { $0.forgetListWriters() } }
      await sum.add(try await repair(name, pause: .zero), engine.relativePath(of: name), reporter)
    }
  }

  private func repairing(_ work: (RepairSum) async throws -> Void) async throws -> Repair {
    try await ThreadPool.with(name: "repair") { threads in
      let sum = RepairSum(Repair(), to: threads)
      try await work(sum)
      return await sum.run { $0 }
    }
  }

  /// The store with a key, or with a file.
  private func name(of store: String) async throws -> StoreName? {
    if let name = StoreName(key: store) { return name }
    for namespace in StoreName.namespaces {
      var cursor = NameCursor(in: namespace, of: engine)
      while let name = try await cursor.next() {
        if engine.relativePath(of: name).equalsBytes(of: store) { return name }
      }
    }
    return nil
  }

  /// Repairs a store. If its file is damaged, writes that again from its rows, if each of them can be read.
  /// - Returns: nil for an absent or a crowded store; a failure for one whose file is damaged still.
  private func repairWithFile(
    _ name: StoreName, on threads: ThreadPool
  ) async throws -> Result<RepairOutcome, ServiceError>? {
    let found = try await repair(name, pause: .zero)
    guard case .failure? = found else { return found }
    do {
      try await stores.withClosed(name) {
        try await engine.replaceDamaged(name, by: .ownRows, on: threads)
      }
    } catch {
      try Task.checkCancellation()
      guard let error = ServiceError(error), error.code == .absent || Self.isOfOneFile(error)
      else { throw error }
      return found
    }
    guard case .success(var outcome)? = try await repair(name, pause: .zero) else { return found }
    outcome.repaired += 1
    return .success(outcome)
  }

  /// - Returns: nil for an absent or a crowded store; a failure for one whose file is damaged.
  private func repair(
    _ name: StoreName, pause: Duration
  ) async throws -> Result<RepairOutcome, ServiceError>? {
    do {
      return try await stores.withStore(name, creating: false) { store in
        guard let store else { return nil }
        return .success(try await store.repair(pause: pause))
      }
    } catch {
      try Task.checkCancellation()
      // A crowded store is repaired by the next run.
      guard let error = ServiceError(error) else { throw error }
      guard error.code != .unavailable else { return nil }
      guard Self.isOfOneFile(error) else { throw error }
      engine.noteUnreadable(name)
      return .failure(error)
    }
  }
}

/// The sum of several repairs. It has a thread, because reporting damage may wait for the receiver.
private typealias RepairSum = Confined<StoreBackups.Repair>

extension RepairSum {
  /// Adds the findings in a store, and reports them.
  fileprivate func add(
    _ found: Result<RepairOutcome, ServiceError>?, _ file: String, _ reporter: ScrubReporter
  ) async {
    await run { repair in
      switch found {
      case nil: break
      case .success(let outcome):
        repair.stores += 1
        repair.outcome += outcome
        for reason in outcome.messages {
          reporter.finding(ScrubFinding(file: file, reason: reason))
        }
      case .failure(let error):
        repair.stores += 1
        repair.damagedStores += 1
        reporter.finding(ScrubFinding(file: file, reason: error.message))
      }
    }
  }
}
