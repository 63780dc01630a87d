import Foundation
import Lanes
import SQLite
import SQLiteEngine
import Stores

/// Makes backups from the command line: through the server that uses the data directory, or without one.
package enum BackupAdministration {
  /// What the command line is told while it waits.
  package struct Report: Sendable {
    let progress: @Sendable (Double?, String) -> Void
    let finding: @Sendable (String) -> Void

    /// A report.
    /// - Parameter progress: takes how far it is, from 0 to 1, and words.
    /// - Parameter finding: takes a line for each damage.
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
      case .result, .failure: break
      }
    }
  }

  /// Makes a backup of a data directory at a path, where nothing but an empty directory may be.
  /// - Returns: one line, and whether stores were left out because they are damaged.
  /// - Throws: ``BackupError``; `DataDirectoryError` for a data directory that can't be used.
  package static func backUp(
    _ data: String, to path: String, _ report: Report
  ) async throws -> (words: String, isDamaged: Bool) {
    let path = absolute(path)
    if let line = await ask(.backup(to: path), in: data, report) {
      switch line {
      case .result(let words, let isDamaged):
        report.progress(1, "")
        return (words, isDamaged)
      case .failure(let reason): throw BackupError(.failed, reason)
      case .progress, .finding: throw BackupError(.failed, "The server ended before it was done")
      }
    }
    try DataFiles.requireThere(data)
    let engine = try await FileEngine.open(directory: data)
    var settings = Settings()
    settings.data = data
    let stores = ServiceAssembly.stores(over: engine, settings)
    let result: Result<BackupDesk.Summary, any Error>
    do {
      result = .success(
        try await BackupDesk(engine: engine, stores: stores).backUp(to: path, report.reporter))
    } catch { result = .failure(error) }
    await stores.close()
    await engine.close()
    let summary = try result.get()
    report.progress(1, "")
    return (summary.words, summary.missing > 0)
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

extension DataFiles {
  /// Checks that there is a data directory: opening one that is not there would make it.
  /// - Throws: ``BackupError``.
  static func requireThere(_ directory: String) throws(BackupError) {
    guard FileManager.default.fileExists(atPath: directory + "/registry.sqlite") else {
      throw BackupError(.unreachable, "\(directory) is no data directory: it has no registry")
    }
  }
}
