import Accounts
import FoundationEssentials
import PostgresEngine
import SQLiteEngine
import Scheduling
import Stores

/// Makes backups and repairs stores from the command line: through the server that uses the data directory, or directly
/// if there is none.
package enum BackupAdministration {
  /// Receives what the command line shows during the work.
  package struct Report: Sendable {
    let progress: @Sendable (Double?, String) -> Void
    let finding: @Sendable (String) -> Void

    /// A report.
    /// - Parameter progress: receives the progress from 0 to 1, and words.
    /// - Parameter finding: receives a line for each damage, or for each row of a list.
    package init(
      progress: @escaping @Sendable (Double?, String) -> Void,
      finding: @escaping @Sendable (String) -> Void
    ) {
      self.progress = progress
      self.finding = finding
    }

    /// Reports how many stores are done.
    func stores(_ done: Int, of total: Int) {
      progress(
        total > 0 ? min(0.99, Double(done) / Double(total)) : nil, "\(done) of \(total) stores")
    }

    /// The reporter for work in this process.
    var reporter: ScrubReporter {
      ScrubReporter {
        finding("\($0.file): \($0.reason)")
      } progress: {
        stores($0, of: $1)
      }
    }

    /// Reports a line of a server.
    func take(_ line: ControlLine) {
      switch line {
      case .progress(let done, let total): stores(done, of: total)
      case .finding(let file, let reason): finding("\(file): \(reason)")
      case .text(let line): finding(line)
      case .result, .failure: break
      }
    }
  }

  /// Makes a backup of the stores of a data directory or a database at a path, which has to be absent or an empty
  /// directory.
  /// - Returns: one line, and whether anything was damaged.
  /// - Throws: the errors of ``backUp(_:to:_:)-(String,_,_)``; ``SettingsError``, the database's errors.
  package static func backUp(
    _ location: StorageLocation, to path: String, _ report: Report
  ) async throws -> (message: String, isDamaged: Bool) {
    if let address = try location.databaseAddress() {
      return try await DatabaseBackups.backUp(address, to: absolute(path), report)
    }
    return try await backUp(location.data, to: path, report)
  }

  /// Makes a backup of a data directory at a path, which has to be absent or an empty directory.
  /// - Returns: one line, and whether anything was damaged.
  /// - Throws: ``BackupError``; `DataDirectoryError` for a data directory that can't be used.
  package static func backUp(
    _ data: String, to path: String, _ report: Report
  ) async throws -> (message: String, isDamaged: Bool) {
    let path = absolute(path)
    if let answer = try await askServer(.backup(to: path), in: data, report) { return answer }
    let summary = try await offline(data) { backups in
      try await backups.backUp(to: path, report.reporter)
    }
    report.progress(1, "")
    return (summary.message, summary.isDamaged)
  }

  /// Repairs all stores of a data directory or a database.
  /// - Returns: one line, and whether something is lost or still damaged.
  /// - Throws: the errors of ``repair(_:_:)-(String,_)``; ``SettingsError``, the database's errors.
  package static func repair(
    _ location: StorageLocation, _ report: Report
  ) async throws -> (message: String, isDamaged: Bool) {
    guard location.database == nil else {
      return try await DatabaseBackups.repair(location, report)
    }
    return try await repair(location.data, report)
  }

  /// Repairs all stores of a data directory.
  /// - Returns: one line, and whether something is lost or still damaged.
  /// - Throws: the errors of ``backUp(_:to:_:)``.
  package static func repair(
    _ data: String, _ report: Report
  ) async throws -> (message: String, isDamaged: Bool) {
    if let answer = try await askServer(.repair, in: data, report) { return answer }
    let registry = try RegistryRebuild.run(absolute(data))
    if let registry { report.finding("registry.sqlite: \(registry.message)") }
    for file in registry?.unknown ?? [] { report.finding("\(file): nothing tells whose it is") }
    let outcome = try await offline(data) { backups in try await backups.repair(report.reporter) }
    report.progress(1, "")
    return (outcome.message, outcome.isDamaged || registry?.unknown.isEmpty == false)
  }

  /// Replaces the damaged file of one store of a data directory; see ``StoreBackups/replace(_:from:_:)``.
  /// - Returns: one line, and whether something in the new file is lost or damaged.
  /// - Throws: the errors of ``backUp(_:to:_:)-(String,_,_)``; ``BackupError`` for stores in a database.
  package static func replace(
    _ store: String, from backup: String?, _ location: StorageLocation, _ report: Report
  ) async throws -> (message: String, isDamaged: Bool) {
    guard location.database == nil else {
      throw BackupError(.failed, "The stores are in a database: one store can't be replaced there")
    }
    let backup = backup.map(absolute)
    let request = ControlPeer.Request.replace(store: store, from: backup)
    if let answer = try await askServer(request, in: location.data, report) { return answer }
    let outcome = try await offline(location.data) { backups in
      try await backups.replace(store, from: backup, report.reporter)
    }
    report.progress(1, "")
    return (outcome.message, outcome.isDamaged)
  }

  /// Sends a request to the server that uses a data directory.
  /// - Returns: the server's result; nil if no server uses the directory.
  /// - Throws: ``BackupError`` with the server's reason; ``SettingsError`` if something has to be configured first.
  static func askServer(
    _ request: ControlPeer.Request, in data: String, _ report: Report
  ) async throws -> (message: String, isDamaged: Bool)? {
    switch await ask(request, in: data, report) {
    case nil: return nil
    case .result(let message, let isDamaged):
      report.progress(1, "")
      return (message, isDamaged)
    case .failure(let reason, isConfiguration: true): throw SettingsError(description: reason)
    case .failure(let reason, isConfiguration: false): throw BackupError(.failed, reason)
    case .progress, .finding, .text:
      throw BackupError(.failed, "The server ended before it was done")
    }
  }

  /// Works on the stores of a data directory that no server uses.
  /// - Throws: `DataDirectoryError`, and the errors of `work`.
  static func offline<Value>(
    _ data: String, _ work: (StoreBackups) async throws -> Value
  ) async throws -> Value {
    try await StorageAssembly.with(StorageLocation(data: data)) { storage, stores in
      let files = try StoreBackups.requireFiles(storage.files)
      return try await work(StoreBackups(engine: files, stores: stores))
    }
  }

  /// Sends a request to the server that uses a data directory.
  /// - Returns: the last line; nil if no server uses the directory.
  static func ask(
    _ request: ControlPeer.Request, in data: String, _ report: Report
  ) async -> ControlLine? {
    await ThreadPool.with(name: "control") { threads in
      await threads.run { ControlClient.ask(request, in: data) { report.take($0) } }
    }
  }

  /// The absolute path, without slashes at the end.
  static func absolute(_ path: String) -> String {
    let path =
      path.utf8.first == UInt8(ascii: "/")
      ? path : FileManager.default.currentDirectoryPath + "/" + path
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Verifies directories for the command line.
package enum Verification {
  /// The worst result of all directories.
  package enum Outcome: Int, Sendable {
    case sound
    /// There is damage.
    case damaged
    /// A directory could not be verified.
    case impossible
  }

  /// Verifies the directories one after the other; a directory in use through its server.
  /// - Parameter progress: receives the progress from 0 to 1, and words.
  /// - Parameter print: receives a line for each damage, and one at the end of each directory.
  package static func run(
    _ directories: [String], progress: @escaping @Sendable (Double?, String) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> Outcome {
    let scrub = try DirectoryScrub()
    return await ThreadPool.with(name: "verify") { threads in
      var outcome = Outcome.sound
      for directory in directories {
        let report = BackupAdministration.Report(progress: progress) {
          print("\(directory): \($0)")
        }
        let (found, message) = await one(directory, scrub, on: threads, report)
        if found != .impossible { progress(1, "") }
        print("\(directory): \(message)")
        if found.rawValue > outcome.rawValue { outcome = found }
      }
      return outcome
    }
  }

  /// Verifies a database. Servers may use it meanwhile.
  /// - Parameter print: receives a line for each damaged store, and one at the end.
  /// - Throws: ``SettingsError``, the database's errors.
  package static func run(
    database location: StorageLocation, progress: @escaping @Sendable (Double?, String) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> Outcome {
    guard let address = try location.databaseAddress() else { return .impossible }
    let source = address.description
    let report = BackupAdministration.Report(progress: progress) { print("\(source): \($0)") }
    let counts = try await DatabaseBackups.verify(address, report)
    progress(1, "")
    print("\(source): \(message(for: counts))")
    return counts.findings == 0 ? .sound : .damaged
  }

  private static func one(
    _ directory: String, _ scrub: DirectoryScrub, on threads: ThreadPool,
    _ report: BackupAdministration.Report
  ) async -> (Outcome, message: String) {
    do throws(DataDirectoryError) {
      let counts = try await threads.run { () throws(DataDirectoryError) in
        try scrub.run(directory, report.reporter)
      }
      return (counts.findings == 0 ? .sound : .damaged, message(for: counts))
    } catch {
      guard error.code == .inUse,
        let line = await BackupAdministration.ask(.verify, in: directory, report)
      else { return (.impossible, StartFailure.line(error)) }
      switch line {
      case .result(let message, let isDamaged): return (isDamaged ? .damaged : .sound, message)
      case .failure(let reason, _): return (.impossible, reason)
      case .progress, .finding, .text: return (.impossible, "The server ended before it was done")
      }
    }
  }

  /// The counts as text.
  static func message(for counts: ScrubCounts) -> String {
    (counts.findings == 0 ? "sound" : "\(counts.findings) damages")
      + ": \(counts.stores) stores, \(counts.documents) documents, \(counts.bodies) bodies, "
      + "\(counts.bytes) bytes"
  }
}
