import Documents
import FoundationEssentials
import HTTPAPI
import SQLiteEngine
import Stores

/// Makes backups and repairs stores from the command line: through the server that uses the data directory, or directly
/// if there is none.
package enum BackupAdministration {
  /// Receives what the command line shows during the work.
  package struct Report: Sendable {
    let progress: @Sendable (Double?, String) -> Void
    let finding: @Sendable (String) -> Void
    private let count: @Sendable (_ done: Int, _ total: Int?) -> Void

    /// A report for a person.
    /// - Parameter progress: receives the progress from 0 to 1, and words.
    /// - Parameter finding: receives a line for each damage, or for each row of a list.
    package init(
      progress: @escaping @Sendable (Double?, String) -> Void,
      finding: @escaping @Sendable (String) -> Void
    ) {
      self.progress = progress
      self.finding = finding
      count = { done, total in
        guard let total else { return progress(nil, "\(done) stores") }
        progress(
          total > 0 ? min(0.99, Double(done) / Double(total)) : nil, "\(done) of \(total) stores")
      }
    }

    /// A report of a job's work.
    init(to job: AdministrationJobs.Report) {
      progress = { _, _ in }
      finding = { job.finding($0) }
      count = { job.progress($0, of: $1) }
    }

    /// Reports how many stores are done.
    /// - Parameter total: nil if nobody knows how many there are.
    func stores(_ done: Int, of total: Int?) { count(done, total) }

    /// The reporter for work in this process.
    var reporter: ScrubReporter {
      ScrubReporter {
        finding("\($0.file): \($0.reason)")
      } progress: {
        stores($0, of: $1)
      }
    }

    /// Reports a line of a server's answer. Its last line, the job at its end, is no report.
    @Sendable func take(_ line: JSONNode) {
      guard line["id"] == nil else { return }
      if let text = line["finding"]?.string { finding(text) }
      if let done = line["done"]?.int, let total = line["total"]?.int { stores(done, of: total) }
    }
  }

  /// What was done, in one line, and whether something is lost or damaged.
  package typealias Outcome = (message: String, isDamaged: Bool)

  /// Makes a backup of the stores of a data directory or a database at a path, which has to be absent or an empty
  /// directory.
  /// - Throws: the errors of ``perform(_:_:_:)``.
  package static func backUp(
    _ location: StorageLocation, to path: String, _ report: Report
  ) async throws -> Outcome { try await perform(.backup(to: absolute(path)), location, report) }

  /// Repairs all stores of a data directory or a database.
  /// - Throws: the errors of ``perform(_:_:_:)``.
  package static func repair(
    _ location: StorageLocation, _ report: Report
  ) async throws -> Outcome { try await perform(.repair, location, report) }

  /// Replaces the damaged file of one store of a data directory; see ``StoreBackups/replace(_:from:_:)``.
  /// - Throws: the errors of ``perform(_:_:_:)``.
  package static func replace(
    _ store: String, from backup: String?, _ location: StorageLocation, _ report: Report
  ) async throws -> Outcome {
    try await perform(.replacement(of: store, from: backup.map(absolute)), location, report)
  }

  /// Does work on stores. A server that uses the data directory does it itself.
  /// - Throws: ``BackupError``; `DataDirectoryError` for a data directory that can't be used; ``SettingsError``; the
  ///   database's errors.
  static func perform(
    _ work: StoreWork, _ location: StorageLocation, _ report: Report
  ) async throws -> Outcome {
    guard location.database == nil else {
      let outcome = try await DatabaseWork(location: location, kept: nil).perform(work, report)
      return (outcome.message, outcome.isDamaged)
    }
    let data = location.data
    if let answer = try await ControlClient.perform(work, in: data, report) { return answer }
    var registry: RegistryRebuild.Outcome?
    if case .repair = work { registry = try RegistryRebuild.run(absolute(data)) }
    if let registry { report.finding("registry.sqlite: \(registry.message)") }
    for file in registry?.unknown ?? [] { report.finding("\(file): nothing tells whose it is") }
    let outcome = try await StorageAssembly.with(location) { storage, stores in
      guard let files = storage.files else { throw DatabaseWork.oneStore }
      let backups = StoreBackups(engine: files, stores: stores)
      return try await backups.perform(work, report.reporter)
    }
    report.progress(1, "")
    return (outcome.message, outcome.isDamaged || registry?.unknown.isEmpty == false)
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
