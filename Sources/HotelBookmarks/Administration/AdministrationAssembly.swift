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

  func writeConnections(addresses: Int, to writer: inout JSONWriter) {
    connections.write(addresses: addresses, to: &writer)
  }

  func allBackups() async throws -> [Administration.Backup] { try await kept().all() }

  func removeBackup(_ name: String) async throws {
    try await translating { try await kept().remove(name) }
  }

  // MARK: The server

  func server() async throws -> [UInt8] {
    let data = settings.data
    let disk = await ThreadPool.with(name: "disk") { threads in
      await threads.run { DiskSpace(of: data) }
    }
    return JSONWriter.object { writer in
      writer.member("version", Version.current)
      writer.member("startedAt", start.rfc3339)
      writer.member("diskBytes", Int(clamping: disk?.all ?? 0))
      writer.member("freeBytes", Int(clamping: disk?.free ?? 0))
      if let backups = try? kept().directory { writer.member("backups", backups) }
    }
  }

  /// - Throws: `configuration` for a database without a directory for its backups.
  private func kept() throws -> KeptBackups { try backups?.kept ?? database.requireKept() }

  // MARK: Upstreams

  func upstreams() async -> [UInt8] {
    let usage = await search.cache?.run { $0.usage() } ?? nil
    return JSONWriter.object { writer in
      writer.objects(
        "upstreams", of: search.guarded.map(Optional.some) + (search.hasCatalogue ? [nil] : [])
      ) {
        upstream, writer in
        writer.member("name", upstream?.name ?? "embedded")
        if let upstream { writer.member("breaker", upstream.breakerState.rawValue) }
        writer.member("isRecovering", upstream?.isRecovering ?? false)
        let calls = upstream.map { "upstream=\"\($0.name)\"," }
        writer.object("calls") { write("upstream_calls_total", of: calls, to: &$0) }
      }
      guard let usage else { return }
      writer.object("cache") { writer in
        writer.member("answerBytes", Int(usage.answerBytes))
        writer.member("maximumBytes", Int(SearchCache.defaultMaximumBytes))
        writer.member("hotels", Int(usage.hotels))
        writer.object("searches") { write("search_cache_total", of: "", to: &$0) }
      }
    }
  }

  /// Writes the counters of a family whose labels begin with a text, by the value of their last label; none for nil. The
  /// labels' values come from this service, so they contain no quotation marks.
  private func write(_ family: String, of labels: String?, to writer: inout JSONWriter) {
    guard let labels else { return }
    let counters = metrics.values(of: family).filter { $0.labels.hasPrefix(labels) }
    let counts = counters.map { counter in
      (String(counter.labels.dropLast().split(separator: "\"").last ?? ""), counter.value)
    }
    for (outcome, count) in counts.sorted(by: { $0.0 < $1.0 }) { writer.member(outcome, count) }
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
        throw SettingsError("A server moves its stores to a postgres:// URL only")
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
      logger.warning("an administrator's task failed", error)
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
