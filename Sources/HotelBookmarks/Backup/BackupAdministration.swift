import FoundationEssentials
import Lanes
import SQLite
import SQLiteEngine
import Stores

/// Makes backups and mends stores from the command line: through the server that uses the data directory, or without one.
package enum BackupAdministration {
  /// What the command line is told while it waits.
  package struct Report: Sendable {
    let progress: @Sendable (Double?, String) -> Void
    let finding: @Sendable (String) -> Void

    /// A report.
    /// - Parameter progress: takes how far it is, from 0 to 1, and words.
    /// - Parameter finding: takes a line for each damage, or whatever is listed.
    package init(
      progress: @escaping @Sendable (Double?, String) -> Void,
      finding: @escaping @Sendable (String) -> Void
    ) {
      self.progress = progress
      self.finding = finding
    }

    /// Tells how many stores are done.
    func stores(_ done: Int, of total: Int) {
      progress(
        total > 0 ? min(0.99, Double(done) / Double(total)) : nil, "\(done) of \(total) stores")
    }

    /// The reporter of work in this process.
    var reporter: ScrubReporter {
      ScrubReporter {
        finding("\($0.file): \($0.reason)")
      } progress: {
        stores($0, of: $1)
      }
    }

    /// Tells what a server told.
    func take(_ line: ControlLine) {
      switch line {
      case .progress(let done, let total): stores(done, of: total)
      case .finding(let file, let reason): finding("\(file): \(reason)")
      case .text(let line): finding(line)
      case .result, .failure: break
      }
    }
  }

  /// Makes a backup of a data directory at a path, where nothing but an empty directory may be.
  /// - Returns: one line, and whether anything was damaged.
  /// - Throws: ``BackupError``; `DataDirectoryError` for a data directory that can't be used.
  package static func backUp(
    _ data: String, to path: String, _ report: Report
  ) async throws -> (words: String, isDamaged: Bool) {
    let path = absolute(path)
    if let told = try await told(.backup(to: path), in: data, report) { return told }
    let summary = try await offline(data) { desk in
      try await desk.backUp(to: path, report.reporter)
    }
    report.progress(1, "")
    return (summary.words, summary.isDamaged)
  }

  /// Mends what is damaged in any store of a data directory.
  /// - Returns: one line, and whether something is lost or damaged still.
  /// - Throws: as ``backUp(_:to:_:)``.
  package static func repair(
    _ data: String, _ report: Report
  ) async throws -> (words: String, isDamaged: Bool) {
    if let told = try await told(.repair, in: data, report) { return told }
    let registry = try RegistrySalvage.run(absolute(data))
    if let registry { report.finding("registry.sqlite: \(registry.words)") }
    for file in registry?.unknown ?? [] { report.finding("\(file): nothing tells whose it is") }
    let outcome = try await offline(data) { desk in try await desk.repair(report.reporter) }
    report.progress(1, "")
    return (outcome.words, outcome.isDamaged || registry?.unknown.isEmpty == false)
  }

  /// What the server that uses a data directory says of a request; nil when none does.
  /// - Throws: ``BackupError`` with its words.
  private static func told(
    _ request: ControlPeer.Request, in data: String, _ report: Report
  ) async throws -> (words: String, isDamaged: Bool)? {
    switch await ask(request, in: data, report) {
    case nil: return nil
    case .result(let words, let isDamaged):
      report.progress(1, "")
      return (words, isDamaged)
    case .failure(let reason): throw BackupError(.failed, reason)
    case .progress, .finding, .text:
      throw BackupError(.failed, "The server ended before it was done")
    }
  }

  /// Works at the stores of a data directory that no server uses.
  /// - Throws: `DataDirectoryError`, and what `work` throws.
  static func offline<Value>(
    _ data: String, _ work: (BackupDesk) async throws -> Value
  ) async throws -> Value {
    try FileEngine.requireDirectory(data)
    let engine = try await FileEngine.open(directory: data)
    var settings = Settings()
    settings.data = data
    let stores = ServiceAssembly.stores(over: engine, settings)
    let result: Result<Value, any Error>
    do { result = .success(try await work(BackupDesk(engine: engine, stores: stores))) } catch {
      result = .failure(error)
    }
    await stores.close()
    await engine.close()
    return try result.get()
  }

  /// Asks the server that uses a data directory; nil when none does.
  static func ask(
    _ request: ControlPeer.Request, in data: String, _ report: Report
  ) async -> ControlLine? {
    let lane = Lane(name: "control")
    let line = await ControlClient(lane).ask(request, in: data) { report.take($0) }
    await lane.stop()
    return line
  }

  /// A path from the root, without a slash at its end.
  static func absolute(_ path: String) -> String {
    let path =
      path.utf8.first == UInt8(ascii: "/")
      ? path : FileManager.default.currentDirectoryPath + "/" + path
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
