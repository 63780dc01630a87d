import Documents
import SQLiteEngine
import Stores

/// Moves all stores between a data directory and a database from the command line.
package enum MoveAdministration {
  /// Moves all stores and then marks the source, so that no server starts on it.
  ///
  /// A server that uses a data directory moves the stores itself; see ``LiveMove``. A move that was interrupted is
  /// continued by the same call. Stores that were copied by then, and are still the same, are not copied again.
  /// - Parameter source: a data directory, or the URL of a database that no server uses.
  /// - Parameter target: a database's URL, or a data directory that is absent or empty.
  /// - Parameter passwordFile: a file with the database's password.
  /// - Returns: lines about what was moved, and whether a store was left out because it can't be read.
  /// - Throws: ``SettingsError``, `DataDirectoryError`, `ServiceError`; ``BackupError`` with a server's
  ///   reason. The source is then not marked, unless the reason says that it is not known whether the move has ended.
  package static func move(
    from source: String, to target: String, passwordFile: String?,
    _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let password = try StorageLocation.password(in: passwordFile)
    let from = try MoveEndpoint(source, password: password)
    let to = try MoveEndpoint(target, password: password)
    guard (from.path == nil) != (to.path == nil) else {
      throw SettingsError("One of --from and --to is a data directory, the other a postgres:// URL")
    }
    if let path = from.path {
      try FileEngine.requireDirectory(path)
      let answer = try await ControlClient.run(
        "moves", ["database": target, "password": password], in: path, report)
      if let answer {
        return (answer.message.split(separator: "\n").map(String.init), answer.isDamaged)
      }
    }
    return try await move(from, to, report)
  }

  /// Moves all stores of a place that no server uses.
  static func move(
    _ from: MoveEndpoint, _ to: MoveEndpoint, _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    try await MoveEndpoint.with(from) { source in
      let unfinished = MoveMark(.unfinished, detail: "from \(from.description)")
      if let path = to.path { try FileEngine.prepareForMove(path, unfinished) }
      return try await MoveEndpoint.with(to) { target in
        try await requireFree(source, target, from, to, unfinished)
        try await target.setMoveMark(unfinished)
        let summary = try await StoreMove(from: source, to: target).run(report)
        guard summary.damaged == 0 else { return (lines(of: summary, from, to), true) }
        if let directory = from.path ?? to.path {
          try await FileHandover(source: source, target: target, directory: directory).run()
        }
        // In this order: between the two steps no server starts on either endpoint, and the same move may be run again.
        try await source.setMoveMark(mark(of: to))
        try await target.setMoveMark(nil)
        report.progress(1, "")
        return (lines(of: summary, from, to), false)
      }
    }
  }

  /// Moves the stores of this process' server to a database.
  /// - Parameter backups: the server's stores; nil if they are in a database.
  /// - Returns: lines about what was moved, and whether a store was left out because it can't be read. If none was, the
  ///   server accepts no change from then on.
  /// - Throws: as ``LiveMove/run(_:)`` does.
  static func moveWhileServing(
    _ backups: StoreBackups?, to: MoveEndpoint, _ report: LiveMove.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    guard let backups else {
      throw SettingsError("The server has its stores in a database; give the URL as --from")
    }
    let from = MoveEndpoint.directory(backups.directory)
    return try await MoveEndpoint.with(to) { target in
      let unfinished = MoveMark(.unfinished, detail: "from \(from.description)")
      try await requireFree(backups.engine, target, from, to, unfinished)
      try await target.setMoveMark(unfinished)
      let move = LiveMove(backups: backups, target: target, report: report)
      let summary = try await move.run { mark(of: to) }
      guard summary.damaged == 0 else { return ([damage(summary.damaged)], true) }
      return (
        [
          "moved \(summary.stores) stores from \(from.description) to \(to.description); "
            + "\(summary.again) copies were made again because of changes",
          "the server still answers reads and refuses changes (503 stores_moved): "
            + "stop it, and start servers with --database",
        ], false
      )
    }
  }

  /// The mark of the source at the end of a move.
  @Sendable private static func mark(of to: MoveEndpoint) -> MoveMark {
    MoveMark(.moved, detail: "to \(to.description) at \(SystemClock.now().rfc3339)")
  }

  /// Removes the mark of a move, so that servers start there again.
  /// - Returns: one line.
  /// - Throws: as ``move(from:to:passwordFile:_:)`` does.
  package static func undo(_ text: String, passwordFile: String?) async throws -> String {
    let endpoint = try MoveEndpoint(text, password: try StorageLocation.password(in: passwordFile))
    if let path = endpoint.path { try FileEngine.requireDirectory(path) }
    return try await MoveEndpoint.with(endpoint) { engine in
      guard let mark = try await engine.moveMark() else {
        return "\(endpoint.description) has no mark of a move"
      }
      guard mark.kind == .moved else {
        throw SettingsError(mark.reason(at: endpoint.description, removal: ""))
      }
      try await engine.setMoveMark(nil)
      return "servers may use \(endpoint.description) again; it was moved \(mark.detail)"
    }
  }

  /// Checks that a database has no stores and no mark of a move.
  /// - Throws: ``SettingsError``; the database's errors.
  static func requireFree(_ database: MoveEndpoint) async throws {
    try await MoveEndpoint.with(database) { engine in
      if let mark = try await engine.moveMark() {
        throw SettingsError(mark.reason(at: database.description, removal: undoing(database)))
      }
      guard try await StoreMove.isEmpty(engine) else { throw occupied(database) }
    }
  }

  private static func occupied(_ endpoint: MoveEndpoint) -> SettingsError {
    SettingsError("\(endpoint.description) has stores already; move into an empty place")
  }

  /// Checks that the source was not moved before, and that the target is empty or has a part of this same move.
  /// - Parameter unfinished: the mark of this move.
  /// - Throws: ``SettingsError``.
  private static func requireFree(
    _ source: any CopyingEngine, _ target: any CopyingEngine, _ from: MoveEndpoint,
    _ to: MoveEndpoint, _ unfinished: MoveMark
  ) async throws {
    let (sourceMark, targetMark) = (try await source.moveMark(), try await target.moveMark())
    if let mark = targetMark, mark != unfinished {
      throw SettingsError(mark.reason(at: to.description, removal: undoing(to)))
    }
    // The last move ended between its two last steps.
    if sourceMark?.kind == .moved, targetMark?.kind == .unfinished { return }
    if let mark = sourceMark {
      throw SettingsError(mark.reason(at: from.description, removal: undoing(from)))
    }
    if targetMark == nil, try await !StoreMove.isEmpty(target) { throw occupied(to) }
  }

  private static func undoing(_ endpoint: MoveEndpoint) -> String {
    "run hotel-bookmarks move --undo \(endpoint.description)"
  }

  private static func lines(
    of summary: StoreMove.Summary, _ from: MoveEndpoint, _ to: MoveEndpoint
  ) -> [String] {
    var lines = [
      "moved \(summary.stores) stores, \(summary.documents) documents, \(summary.bytes) bytes "
        + "from \(from.description) to \(to.description)"
    ]
    if summary.earlier > 0 { lines.append("\(summary.earlier) stores had been moved before") }
    if summary.damaged > 0 { lines.append(damage(summary.damaged)) }
    return lines
  }

  private static func damage(_ stores: Int) -> String {
    "\(stores) stores can't be read, and the accounts were not moved, so the source stays in use; "
      + "mend the stores with hotel-bookmarks repair, or restore --store from a backup, and run the move again"
  }
}
