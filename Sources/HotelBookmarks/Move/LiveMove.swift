import SQLiteEngine
import Stores

/// Moves all stores of the server of a data directory to a database, while the server answers.
///
/// At first changes go on: every store but the accounts' is copied, and then again whatever was changed meanwhile. Then
/// the server refuses changes of all stores at once, so that what is copied last is one state of all of them, as after a
/// crash. It copies what was changed since, and the accounts. Nothing serves the copies before the last step, so the
/// source has every acknowledged change until then, and a move that fails or is cancelled loses nothing.
struct LiveMove: Sendable {
  /// How often stores that were changed are copied again before changes are refused. Each time takes less, because fewer
  /// stores were changed.
  private static let rounds = 2

  let backups: StoreBackups
  let target: any CopyingEngine
  let report: Report

  /// Receives what the person who moves is shown.
  struct Report: Sendable {
    /// Receives how many stores of how many are copied. Must not block.
    let progress: @Sendable (Int, Int) -> Void
    let line: @Sendable (String) async -> Void
  }

  /// What was moved.
  struct Summary: Sendable {
    /// The stores, with the accounts'.
    var stores = 0
    /// Copies that were made again because the store was changed.
    var again = 0
    /// Stores that were not copied because they are damaged or can't be read. Nothing was handed over then.
    var damaged = 0
  }

  /// Moves all stores. Afterwards changes are refused for as long as this process lives.
  /// - Parameter moved: the mark of the source at the end.
  /// - Throws: ``SettingsError`` when the target has a later state of a store, and when it is not known whether the move has
  ///   ended; the errors of both engines; `CancellationError`. Only when it is not known, changes remain refused.
  func run(_ moved: @escaping @Sendable () -> MoveMark) async throws -> Summary {
    let access = backups.engine.access
    access.noteChanges(true)
    defer { access.noteChanges(false) }
    var summary = Summary()
    try await target.removeUnfinishedCopies()
    try await copyAll(&summary)
    for _ in 0..<Self.rounds where summary.damaged == 0 { try await copyChanged(&summary) }
    guard summary.damaged == 0 else { return summary }
    await report.line("The stores are copied. No change is accepted from now on.")
    do {
      // The last copies may wait long for a database that does not answer. A cancelled move does not make clients wait.
      summary = try await withTaskCancellationHandler {
        try await copyLast(summary)
      } onCancel: {
        access.allow()
      }
      guard summary.damaged == 0 else {
        access.allow()
        return summary
      }
      try access.beginHandover()
    } catch {
      access.allow()
      throw error
    }
    // In a task of its own, because a cancellation must not end it halfway.
    try await Task { try await handOver(moved()) }.value
    return summary
  }

  /// Copies every store but the accounts', while changes go on.
  private func copyAll(_ summary: inout Summary) async throws {
    let total = try await StoreMove.count(in: backups.engine) + 1
    var done = 0
    for line in try await backups.engine.registryDamage() {
      await report.line(line)
      summary.damaged += 1
    }
    for namespace in StoreName.namespaces where namespace != StoreName.system.namespace {
      try await StoreMove.eachPage(of: namespace, in: backups.engine) { names in
        try await StoreMove.each(names, copy) { isSound in
          if !isSound { summary.damaged += 1 }
          done += 1
          report.progress(done, max(done, total))
        }
      }
    }
  }

  /// Copies the stores that were changed since their last copy, without the accounts'.
  private func copyChanged(_ summary: inout Summary) async throws {
    let names = backups.engine.access.takeChanged().compactMap { StoreName(key: $0) }.filter {
      $0 != .system && StoreName.namespaces.contains($0.namespace)
    }
    summary.again += names.count
    try await copy(names, &summary)
  }

  private func copy(_ names: [StoreName], _ summary: inout Summary) async throws {
    try await StoreMove.each(names, copy) { isSound in if !isSound { summary.damaged += 1 } }
  }

  /// Refuses changes and copies what the target lacks, the accounts last.
  private func copyLast(_ summary: Summary) async throws -> Summary {
    var summary = summary
    await backups.engine.access.refuse()
    try Task.checkCancellation()
    try await copyChanged(&summary)
    let missing = try await NameDifference(source: backups.engine, target: target).settle()
    try await copy(missing, &summary)
    if summary.damaged == 0 { try await copy([.system], &summary) }
    summary.stores = try await StoreMove.count(in: backups.engine) + 1
    try await target.removeUnfinishedCopies()
    return summary
  }

  /// - Returns: false for a store that can't be read, which is reported.
  private func copy(_ name: StoreName) async throws -> Bool {
    let access = backups.engine.access
    access.forgetChange(name.key)
    let outcome = try await StoreMove.reportingDamage(of: name, report.line, reading) {
      do { return try await transfer(name) } catch let error as ServiceError
        where access.hasChanged(name.key) && Self.isContradiction(error)
      {
        // Its rows were read from several states. It is copied again, at the latest when no one can change it.
        return .absent
      }
    }
    return outcome != nil
  }

  /// Reads all rows of a store.
  private func reading(_ name: StoreName) async throws {
    let (engine, access) = (backups.engine, backups.engine.access)
    _ = try await backups.using(name) { storage in
      do {
        var walk = try await RowWalk(over: try engine.rowReader(over: storage))
        _ = try await walk.run()
      } catch let error as ServiceError
        where access.hasChanged(name.key) && Self.isContradiction(error)
      {}
    }
  }

  /// Whether changes during a copy can be the reason of an error.
  private static func isContradiction(_ error: ServiceError) -> Bool {
    StoreBackups.isDamage(error) || error.code == .unavailable
  }

  private func transfer(_ name: StoreName) async throws -> StoreTransfer.Outcome {
    let (engine, target) = (backups.engine, target)
    // A result, because an error of the copy is no reason to lease the store again.
    let result = try await backups.using(name) { storage in
      do {
        let reader = try engine.rowReader(over: storage)
        let transfer = StoreTransfer(from: engine, to: target)
        return Result<StoreTransfer.Outcome, any Error>.success(
          try await transfer.copy(name, from: reader))
      } catch { return .failure(error) }
    }
    return try result?.get() ?? .absent
  }

  /// Hands over the files and exchanges the marks. Between the two marks no server starts on either place.
  ///
  /// The source is marked before its files are read, so that no command rotates keys in between.
  private func handOver(_ moved: MoveMark) async throws {
    let (engine, access) = (backups.engine, backups.engine.access)
    do {
      try await engine.setMoveMark(moved)
      try await FileHandover(source: engine, target: target, directory: engine.path).run()
    } catch {
      // The target still has its mark, unless an earlier attempt came as far as the last step.
      if access.phase == .handover { try? await engine.setMoveMark(nil) }
      access.undoHandover()
      throw error
    }
    // Even a call that fails may have removed the target's mark.
    access.finishHandover()
    do { try await target.setMoveMark(nil) } catch {
      throw SettingsError(
        "It is not known whether the move has ended (\(StartFailure.line(error))); run the same command again. "
          + "Until then nothing can be changed in either place")
    }
  }
}
