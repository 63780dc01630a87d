import Accounts
import Catalogue
import Documents
import HTTPAPI
import Logging
import SQLiteEngine
import Scheduling
import SearchProxy
import ServiceLifecycle
import Stores

/// What the administrator's page shows and starts.
struct AdministrationAssembly: ServerAdministration {
  let history = HistoryRecorder()
  let jobs = AdministrationJobs(now: SystemClock.now)
  let settings: Settings
  let metrics: PrometheusRegistry
  let search: SearchAssembly
  let connections: ConnectionAssembly
  /// The work on stores in files; nil for stores in a database.
  let backups: StoreBackups?
  /// The work on stores that are in a database.
  let database: DatabaseWork
  /// Nil for a catalogue that no other server uses.
  let catalogue: SharedCatalogue?
  let logger: Logger
  /// When the parts were assembled, at the start of the process.
  private let start = SystemClock.now()

  func traffic(addresses: Int) -> Administration.Traffic {
    connections.traffic(addresses: addresses)
  }

  func allBackups() async throws -> [Administration.Backup] { try await kept().all() }

  func removeBackup(_ name: String) async throws {
    try await translating { try await kept().remove(name) }
  }

  // MARK: The server

  func server() async throws -> Administration.Server {
    let data = settings.data
    let disk = await ThreadPool.with(name: "disk") { threads in
      await threads.run { DiskSpace(of: data) }
    }
    return Administration.Server(
      version: Version.current, startedAt: start, diskBytes: disk?.all ?? 0,
      freeBytes: disk?.free ?? 0, backups: try? kept().directory)
  }

  /// - Throws: `configuration` for a database without a directory for its backups.
  private func kept() throws -> KeptBackups { try backups?.kept ?? database.requireKept() }

  // MARK: Upstreams

  var upstreams: [Administration.Upstream] {
    let calls = metrics.values(of: "upstream_calls_total")
    let own =
      search.hasCatalogue
      ? [Administration.Upstream(name: "embedded", breaker: nil, isRecovering: false, calls: [])]
      : []
    return search.guarded.map { upstream in
      let mine = calls.filter { $0.labels.hasPrefix("upstream=\"\(upstream.name)\",") }
      return Administration.Upstream(
        name: upstream.name, breaker: upstream.breakerState.rawValue,
        isRecovering: upstream.isRecovering,
        calls: mine.map { (Self.lastLabel($0.labels), $0.value) }.sorted { $0.0 < $1.0 })
    } + own
  }

  func cache() async -> Administration.Cache? {
    guard let usage = await search.cache?.run({ $0.usage() }) ?? nil else { return nil }
    let searches = metrics.values(of: "search_cache_total")
    return Administration.Cache(
      answerBytes: Int(usage.answerBytes), maximumBytes: Int(SearchCache.defaultMaximumBytes),
      hotels: Int(usage.hotels),
      searches: searches.map { (Self.lastLabel($0.labels), $0.value) }.sorted { $0.0 < $1.0 })
  }

  /// The value of the last label. The labels' values come from this service, so they contain no quotation marks.
  private static func lastLabel(_ labels: String) -> String {
    String(labels.dropLast().split(separator: "\"").last ?? "")
  }

  // MARK: Work

  func perform(
    _ work: StoreWork, _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome {
    try await translating {
      let report = BackupAdministration.Report(to: report)
      let outcome =
        if let backups {
          try await backups.perform(work, report.reporter)
        } else {
          try await database.perform(work, report)
        }
      if case .backup = work {
        logger.info("a backup was made", metadata: ["detail": "\(outcome.message)"])
      }
      return outcome
    }
  }

  func move(
    to url: String, _ password: Secret?, _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome {
    try await translating {
      guard MoveEndpoint.isURL(url) else {
        throw MoveError("A server moves its stores to a postgres:// URL only")
      }
      let to = try MoveEndpoint(url, password: password?.exposed)
      let shown = LiveMove.Report {
        report.progress($0, of: $1)
      } line: {
        report.finding($0)
      }
      let outcome = try await MoveAdministration.moveWhileServing(backups, to: to, shown)
      if !outcome.isDamaged {
        logger.warning(
          "the stores were moved; nothing can be changed here any more",
          metadata: ["detail": "\(to.description)"])
      }
      return .init(outcome.lines.joined(separator: "\n"), isDamaged: outcome.isDamaged)
    }
  }

  func importHotels(
    _ options: Administration.ImportOptions, _ pieces: Administration.Pieces,
    _ report: AdministrationJobs.Report
  ) async throws -> AdministrationJobs.Outcome {
    try backups?.engine.access.requireAllowed()
    // What the import replaces, and is compared with, is what all servers have.
    if let catalogue { _ = try await translating { try await catalogue.catchUp() } }
    return try await translating {
      let summary = try await ThreadPool.with(name: "import") { threads in
        try await CatalogueImport(
          into: settings.data, on: threads, name: "uploaded", at: SystemClock.now(),
          onBadRow: options.isStrict ? .refuse : .skip, isForced: options.isForced,
          isDryRun: options.isDryRun
        ) { event in
          switch event {
          case .progress(let state): report.progress(state.bytes, of: nil)
          // A dry run tells each kind of fault once.
          case .badRow where options.isDryRun: break
          case .badRow(let row): report.finding("line \(row.line): \(row.reason)")
          }
        }.run(reading: UnpackedPieces(pieces))
      }
      guard !options.isDryRun else {
        for line in summary.found.lines { report.finding(line) }
        return .init("Dry run: \(summary.counts)")
      }
      // A move that is under way may have taken the former catalogue.
      try backups?.engine.access.requireAllowed()
      try await catalogue?.publishImport()
      return .init(summary.counts)
    }
  }

  func undoCatalogue(_: AdministrationJobs.Report) async throws -> AdministrationJobs.Outcome {
    try await translating {
      try backups?.engine.access.requireAllowed()
      guard let catalogue else {
        return .init(try await CatalogueAdministration.undo(inDirectory: settings.data))
      }
      let scratch = try ScratchDirectory.make()
      defer { ScratchDirectory.remove(scratch) }
      let origin = try await SharedCatalogue(database: catalogue.database, data: scratch).undo()
      try await catalogue.catchUp()
      return .init(CatalogueAdministration.isBack(origin))
    }
  }

  /// Turns an error into one with a text for the administrator, and logs it.
  private func translating<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch let error as CancellationError {
      throw error
    } catch let error as ServiceError where [.missing, .configuration].contains(error.code) {
      throw error
    } catch {
      logger.warning(
        "an administrator's task failed",
        metadata: ["detail": "\(StartFailure.line(error))"])
      throw ServiceError(Self.code(for: error), StartFailure.line(error))
    }
  }

  private static func code(for error: any Error) -> ServiceError.Code {
    guard let error = error as? CatalogueError else {
      return StartFailure.isConfiguration(error) ? .configuration : .unavailable
    }
    return switch error.code {
    case .malformed, .truncated, .badRow, .empty, .doubtful: .importRefused
    case .noFormer: .undoOver
    case .busy: .beingFilled
    case .storageFull: .storageFull
    case .damaged, .unavailable, .unreadable, .cancelled: .unavailable
    }
  }
}

/// Ends the administrator's jobs when the server stops, before the stores are closed.
struct AdministrationService: Service {
  let jobs: AdministrationJobs

  func run() async throws {
    try? await gracefulShutdown()
    await jobs.stop()
  }
}
