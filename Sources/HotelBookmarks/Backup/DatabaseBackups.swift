import FoundationEssentials
import HTTPAPI
import PostgresEngine
import SQLiteEngine
import Stores

/// Backs up and verifies stores that are in a database. Servers may use the database meanwhile.
enum DatabaseBackups {
  /// The end of the name of the data directory beside a backup that is being made.
  static let copies = ".stores"

  /// Makes a backup: copies all stores into a data directory beside the backup, and makes a backup of this directory.
  /// The directory, `NAME.stores`, is removed at the end.
  /// - Parameter path: see ``BackupAdministration/backUp(_:to:_:)``.
  /// - Throws: the errors of that function; the database's errors.
  static func backUp(
    _ address: DatabaseAddress, to path: String, _ report: BackupAdministration.Report
  ) async throws -> AdministrationJobs.Outcome {
    try requireFree(path)
    let scratch = path + copies
    let mark = MoveMark(.unfinished, detail: "from \(address.description) for a backup")
    // What an earlier backup left may be out of date.
    if FileManager.default.fileExists(atPath: scratch + "/" + mark.kind.rawValue) {
      guard !KeptBackups.isLocked(scratch) else {
        throw BackupError(.occupied, "Another process makes the backup \(path) now")
      }
      try remove(scratch)
    }
    try FileEngine.prepareForMove(scratch, mark)
    do {
      let damaged = try await copy(address, into: scratch, report)
      var (message, isDamaged) = try await BackupAdministration.perform(
        .backup(to: path), StorageLocation(data: scratch), report)
      try remove(scratch)
      if damaged > 0 {
        message += "; \(damaged) stores are damaged, and lack what is damaged"
        isDamaged = true
      }
      return .init(message, isDamaged: isDamaged)
    } catch {
      try? remove(scratch)
      throw error
    }
  }

  /// - Returns: how many stores are damaged. Of these only what is sound was copied, or nothing.
  private static func copy(
    _ address: DatabaseAddress, into directory: String, _ report: BackupAdministration.Report
  ) async throws -> Int {
    try await MoveEndpoint.with(.database(address), whileUsed: true) { database in
      try await MoveEndpoint.with(.directory(directory)) { files in
        let summary = try await StoreMove(from: database, to: files, whileUsed: true).run(report)
        try await FileHandover(source: database, target: files, directory: directory).run()
        try await files.setMoveMark(nil)
        return summary.damaged + summary.incomplete
      }
    }
  }

  /// Verifies all rows of all stores. Of a damaged store the first damage is reported.
  /// - Throws: the database's errors.
  static func verify(
    _ address: DatabaseAddress, _ report: BackupAdministration.Report
  ) async throws -> ScrubCounts {
    try await MoveEndpoint.with(.database(address), whileUsed: true) { database in
      var counts = ScrubCounts()
      for line in try await database.registryDamage() {
        counts.findings += 1
        report.finding(line)
      }
      for namespace in StoreName.namespaces {
        try await StoreMove.eachPage(of: namespace, in: database) { names in
          for name in names {
            try Task.checkCancellation()
            do {
              if let found = try await verify(name, in: database) { counts += found }
            } catch let error as ServiceError where StoreBackups.isOfOneFile(error) {
              counts.findings += 1
              report.finding("\(name.key): \(error.message)")
            }
            report.stores(counts.stores, of: nil)
          }
        }
      }
      return counts
    }
  }

  /// Repairs all stores. Servers may use the database meanwhile.
  /// - Throws: ``SettingsError``, the database's errors.
  static func repair(
    _ location: StorageLocation, _ report: BackupAdministration.Report
  ) async throws -> StoreBackups.Repair {
    try await StorageAssembly.with(location) { storage, stores in
      var repair = StoreBackups.Repair()
      let lost = try await storage.registerLostStores()
      for line in lost.registered + lost.left { report.finding(line) }
      repair.outcome.repaired += lost.registered.count
      repair.damagedStores += lost.left.count
      for namespace in StoreName.namespaces {
        try await StoreMove.eachPage(of: namespace, in: storage.engine) { names in
          for name in names {
            try Task.checkCancellation()
            try await Self.repair(name, storage, stores, &repair, report)
            report.stores(repair.stores, of: nil)
          }
        }
      }
      report.progress(1, "")
      return repair
    }
  }

  private static func repair(
    _ name: StoreName, _ storage: StorageAssembly, _ stores: DatabaseManager,
    _ repair: inout StoreBackups.Repair, _ report: BackupAdministration.Report
  ) async throws {
    repair.stores += 1
    do {
      if try await storage.repairRow(of: name) {
        repair.outcome.repaired += 1
        report.finding("\(name.key): its row was written again")
      }
      let outcome = try await stores.visit(name) { store in try await store?.repair() }
      guard let outcome else { return }
      repair.outcome += outcome
      for line in outcome.messages { report.finding("\(name.key): \(line)") }
    } catch let error as ServiceError where StoreBackups.isOfOneFile(error) {
      repair.damagedStores += 1
      report.finding("\(name.key): \(error.message)")
    }
  }

  /// - Returns: nil for a store that was erased meanwhile.
  private static func verify(
    _ name: StoreName, in database: any CopyingEngine
  ) async throws -> ScrubCounts? {
    guard let reader = try await database.rowReader(of: name, whileUsed: true) else { return nil }
    var counts = ScrubCounts()
    counts.stores = 1
    return try await closing(reader.close) {
      do {
        var walk = try await RowWalk(over: reader)
        while let page = try await walk.next() { counts.add(page) }
        try await reader.checkIndexes()
        return counts
      } catch let error as ServiceError where error.code == .absent { return nil }
    }
  }

  /// Checks before the long copy that the backup's name is free.
  /// - Throws: `occupied`.
  private static func requireFree(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    guard names?.isEmpty == true else {
      throw BackupError(.occupied, "There is something at \(path) already")
    }
  }

  private static func remove(_ directory: String) throws {
    do { try FileManager.default.removeItem(atPath: directory) } catch {
      throw BackupError(.unreachable, "The directory \(directory) can't be removed")
    }
  }
}

extension ScrubCounts {
  /// Counts the rows of a page.
  fileprivate mutating func add(_ page: RowPage) {
    switch page {
    case .documents(let found):
      documents += found.count
      bodies += found.count
      bytes += found.reduce(0) { $0 + $1.body.bytes.count }
    case .bodies(let found):
      bodies += found.count
      bytes += found.reduce(0) { $0 + $1.body.bytes.count }
    case .locals: break
    }
  }
}
