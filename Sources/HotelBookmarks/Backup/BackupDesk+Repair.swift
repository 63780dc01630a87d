import Lanes
import SQLite
import SQLiteEngine
import Stores

/// Mending stores in use.
extension BackupDesk {
  /// What repairing came to.
  struct Repair: Sendable {
    /// Stores that were looked at.
    var stores = 0
    /// What was found in their rows.
    var mending = Mending()
    /// Stores that can't be opened: nothing in them can be mended.
    var damagedStores = 0
    /// Stores that could not be opened and were made anew of what their pages show.
    var salvaged = 0
    /// Of these, stores that lack something.
    var incomplete = 0

    /// Whether something is lost or damaged still.
    var isDamaged: Bool {
      !mending.lost.isEmpty || mending.left > 0 || damagedStores > 0 || incomplete > 0
    }

    /// In words.
    var words: String {
      let damaged =
        damagedStores > 0
        ? ["\(damagedStores) stores can't be mended: restore them from a backup"] : []
      let anew =
        salvaged > 0
        ? ["\(salvaged) stores were made anew, \(incomplete) of which lack something"] : []
      let found = mending.words + anew + damaged
      return "\(stores) stores looked at; "
        + (found.isEmpty ? "nothing was damaged" : found.joined(separator: "; "))
    }
  }

  /// Looks through every store and mends what is damaged.
  /// - Parameter pause: for how long it rests after each piece of a store, and after each store.
  /// - Throws: `ServiceError`, `CancellationError`.
  func repair(_ reporter: ScrubReporter, pause: Duration = .zero) async throws -> Repair {
    let lane = Lane(name: "repair")
    let sum = RepairSum(on: lane)
    let result: Result<Void, any Error>
    do {
      _ = try await each(reporter, atOnce: 1) { name in
        let place = engine.place(of: name)
        var found = try await repair(name, pause: pause)
        // The slow look by the clock leaves it to an operator, who may have a backup that lacks less.
        if case .failure? = found, pause == .zero,
          let salvage = try await salvage(name, on: lane)
        {
          await sum.add(salvage, place, reporter)
          found = try await repair(name, pause: pause)
          try await stores.withStore(name, creating: false) { try await $0?.restoreLost() }
        }
        await sum.add(found, place, reporter)
        if pause > .zero { try await Task.sleep(for: pause) }
        return true
      }
      result = .success(())
    } catch { result = .failure(error) }
    let found = await sum.repair
    await lane.stop()
    try result.get()
    return found
  }

  /// Makes a store anew of what its pages show.
  /// - Returns: nil where that can't be.
  private func salvage(_ name: StoreName, on lane: Lane) async throws -> FileEngine.Salvage? {
    do {
      return try await stores.withClosed(name) {
        try await engine.salvage(name, at: SystemClock.now(), on: lane)
      }
    } catch {
      try Task.checkCancellation()
      guard let error = ServiceError(error), Self.isDamage(error) else { throw error }
      return nil
    }
  }

  /// - Returns: nil for a store that is not there; a failure for one whose file is damaged.
  private func repair(
    _ name: StoreName, pause: Duration
  ) async throws -> Result<Mending, ServiceError>? {
    do {
      return try await stores.withStore(name, creating: false) { store in
        guard let store else { return nil }
        return .success(try await store.mend(pause: pause))
      }
    } catch {
      try Task.checkCancellation()
      // One that is crowded has its turn the next time.
      guard let error = ServiceError(error) else { throw error }
      guard error.code != .unavailable else { return nil }
      guard Self.isDamage(error) else { throw error }
      return .failure(error)
    }
  }
}

/// What repairing several stores came to. Pinned to a lane, as telling of damage may wait for whoever is told.
private actor RepairSum {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// An empty sum.
  init(on lane: Lane) { self.lane = lane }

  /// The sum so far.
  private(set) var repair = BackupDesk.Repair()

  /// Adds a store that was made anew, and tells of it.
  func add(_ salvage: FileEngine.Salvage, _ place: String, _ reporter: ScrubReporter) {
    repair.salvaged += 1
    if !salvage.isWhole { repair.incomplete += 1 }
    reporter.finding(ScrubFinding(file: place, reason: salvage.words))
  }

  /// Adds what was found in a store, and tells of it.
  func add(
    _ found: Result<Mending, ServiceError>?, _ place: String, _ reporter: ScrubReporter
  ) {
    switch found {
    case nil: break
    case .success(let mending):
      repair.stores += 1
      repair.mending += mending
      for reason in mending.words {
        reporter.finding(ScrubFinding(file: place, reason: reason))
      }
    case .failure(let error):
      repair.stores += 1
      repair.damagedStores += 1
      reporter.finding(ScrubFinding(file: place, reason: BackupDesk.words(error)))
    }
  }
}
