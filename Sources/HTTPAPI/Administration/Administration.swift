package import Accounts
package import Documents

/// The values of a ``ServerAdministration``.
package enum Administration {
  /// A backup in the directory of backups.
  package struct Backup: Sendable {
    /// Its name: the time of its beginning.
    package let name: String
    /// When it was begun.
    package let madeAt: Timestamp
    /// Whether it has a manifest; false for one whose removal was broken off.
    package let isWhole: Bool

    /// Makes a backup from its parts.
    package init(name: String, madeAt: Timestamp, isWhole: Bool) {
      (self.name, self.madeAt, self.isWhole) = (name, madeAt, isWhole)
    }
  }

  /// How the administrator imports hotels.
  package struct ImportOptions: Sendable {
    /// Whether one bad row refuses the whole file. Otherwise bad rows are skipped.
    package let isStrict: Bool
    /// Whether a file that looks like a mistake replaces the catalogue, too.
    package let isForced: Bool
    /// Whether the catalogue stays as it is, and only the findings are of interest.
    package let isDryRun: Bool
  }

  /// Bytes that arrive in pieces.
  package typealias Pieces = any AsyncSequence<[UInt8], any Error> & Sendable
  /// Work that reports its progress.
  package typealias Work =
    @Sendable (AdministrationJobs.Report) async throws -> AdministrationJobs.Outcome
}

/// What the administrator can see and start. The composition root supplies it; HTTPAPI does not know the
/// implementations.
package protocol ServerAdministration: Sendable {
  /// What the server did in the last hour.
  var history: HistoryRecorder { get }
  /// The jobs that the administrator has started.
  var jobs: AdministrationJobs { get }
  /// The upstreams, in the order in which they are asked, and the cache of their answers, as JSON.
  func upstreams() async -> [UInt8]
  /// Writes how many connections and requests there are, and the given number of addresses.
  func writeConnections(addresses: Int, to writer: inout JSONWriter)
  /// The process and its disk, as JSON.
  func server() async throws -> [UInt8]
  /// The backups in the directory of backups, the newest first.
  func allBackups() async throws -> [Administration.Backup]
  /// Removes one of them, by its name.
  func removeBackup(_ name: String) async throws
  /// Does work on stores in files.
  func perform(
    _ work: StoreWork, _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome
  /// Moves all stores to a database, given by its URL.
  func move(
    to url: String, _ password: Secret?, _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome
  /// Replaces the hotels of the catalogue.
  func importHotels(
    _ options: Administration.ImportOptions, _ pieces: Administration.Pieces,
    _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome
  /// Brings back the catalogue that the last import replaced.
  func undoCatalogue(_ report: AdministrationJobs.Report) async throws -> AdministrationJobs.Outcome
}

/// Long work on stores in files that the administrator starts.
package enum StoreWork: Sendable {
  /// A backup at an absolute path, which has to be absent or an empty directory; nil for the directory of backups, under
  /// the time's name.
  case backup(to: String?)
  /// Looks through all stores for damage.
  case verification
  /// Looks through a backup in the directory of backups, by its name.
  case backupVerification(of: String)
  /// Repairs all stores.
  case repair
  /// Replaces the damaged file of a store by its copy in a backup at an absolute path; nil for one without documents.
  case replacement(of: String, from: String?)

  var kind: AdministrationJobs.Kind {
    switch self {
    case .backup: .backup
    case .verification, .backupVerification: .verification
    case .repair: .repair
    case .replacement: .replacement
    }
  }
}
