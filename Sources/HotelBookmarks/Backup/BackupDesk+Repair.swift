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

    /// Whether something is lost or damaged still.
    var isDamaged: Bool { !mending.lost.isEmpty || mending.left > 0 || damagedStores > 0 }

    /// In words.
    var words: String {
      let damaged =
        damagedStores > 0
        ? ["\(damagedStores) stores can't be mended: restore them from a backup"] : []
      let found = mending.words + damaged
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
        await sum.add(try await repair(name, pause: pause), engine.place(of: name), reporter)
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
