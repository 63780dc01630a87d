package import Accounts
package import Documents

/// The values of a ``ServerAdministration``.
package enum Administration {
  /// An upstream over HTTP, or the catalogue in this process.
  package struct Upstream: Sendable {
    /// Its name in metrics and logs.
    package let name: String
    /// The state of its circuit breaker: `closed`, `open` or `half-open`; nil if it has none.
    package let breaker: String?
    /// Whether it has become available again a short while ago.
    package let isRecovering: Bool
    /// Its calls since the start, by outcome.
    package let calls: [(outcome: String, count: Int)]

    /// Makes an upstream from its parts.
    package init(
      name: String, breaker: String?, isRecovering: Bool, calls: [(outcome: String, count: Int)]
    ) {
      self.name = name
      self.breaker = breaker
      self.isRecovering = isRecovering
      self.calls = calls
    }
  }

  /// The cache of upstreams' answers.
  package struct Cache: Sendable {
    /// Bytes of cached answers.
    package let answerBytes: Int
    /// The maximum of bytes of cached answers.
    package let maximumBytes: Int
    /// Hotels that are cached by id.
    package let hotels: Int
    /// Searches since the start, by the cache's result.
    package let searches: [(result: String, count: Int)]

    /// Makes a cache from its parts.
    package init(
      answerBytes: Int, maximumBytes: Int, hotels: Int, searches: [(result: String, count: Int)]
    ) {
      self.answerBytes = answerBytes
      self.maximumBytes = maximumBytes
      self.hotels = hotels
      self.searches = searches
    }
  }

  /// The present connections and requests.
  package struct Traffic: Sendable {
    /// Connections that are open.
    package var connections = 0
    /// Connections that were refused since the start.
    package var refusedConnections = 0
    /// Requests that are being answered.
    package var requests = 0
    /// Requests that were refused since the start.
    package var refusedRequests = 0
    /// The addresses with the most connections, the most first.
    package var addresses: [(address: String, connections: Int)] = []

    /// Makes a value of zeros.
    package init() {}
  }

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

  /// What the process and its disk are.
  package struct Server: Sendable {
    /// The program's version.
    package let version: String
    /// When the process began.
    package let startedAt: Timestamp
    /// Bytes of the data directory's disk.
    package let diskBytes: Int64
    /// Bytes of it that this server may still use.
    package let freeBytes: Int64
    /// Where backups without a path go; nil where this server makes none.
    package let backups: String?

    /// Makes a value from its parts.
    package init(
      version: String, startedAt: Timestamp, diskBytes: Int64, freeBytes: Int64, backups: String?
    ) {
      (self.version, self.startedAt, self.backups) = (version, startedAt, backups)
      (self.diskBytes, self.freeBytes) = (diskBytes, freeBytes)
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
  /// The upstreams, in the order in which they are asked.
  var upstreams: [Administration.Upstream] { get }
  /// The cache of upstreams' answers; nil if there is none.
  func cache() async -> Administration.Cache?
  /// Connections and requests, with the given number of addresses.
  func traffic(addresses: Int) -> Administration.Traffic
  /// The process and its disk.
  func server() async throws -> Administration.Server
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
