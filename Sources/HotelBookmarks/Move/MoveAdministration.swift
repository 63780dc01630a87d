import Documents
import SQLiteEngine
import StoreRecords
import Stores

/// Moves all stores between a data directory and a database from the command line.
package enum MoveAdministration {
  /// Moves all stores and then marks the source, so that no server starts on it.
  ///
  /// A move that was interrupted is continued by the same call. Stores that were copied by then are skipped.
  /// - Parameter source: a data directory or a database's URL, which no server uses.
  /// - Parameter target: a database's URL, or a data directory that is absent or empty.
  /// - Parameter passwordFile: a file with the database's password.
  /// - Returns: lines about what was moved, and whether a store was left out because it is damaged.
  /// - Throws: ``MoveError``, `DataDirectoryError`, `ServiceError`. The source is then not marked.
  package static func move(
    from source: String, to target: String, passwordFile: String?,
    _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let from = try MoveEndpoint(source, passwordFile: passwordFile)
    let to = try MoveEndpoint(target, passwordFile: passwordFile)
    guard (from.path == nil) != (to.path == nil) else {
      throw MoveError("One of --from and --to is a data directory, the other a postgres:// URL")
    }
    if let path = from.path { try FileEngine.requireDirectory(path) }
    return try await MoveEndpoint.with(from) { source in
      let unfinished = MoveMark(.unfinished, detail: "from \(from.description)")
      if let path = to.path { try FileEngine.prepareForMove(path, unfinished) }
      return try await MoveEndpoint.with(to) { target in
        try await requireFree(source, target, from, to, unfinished)
        try await target.setMoveMark(unfinished)
        let summary = try await StoreMove(from: source, to: target).run(report)
        guard summary.damaged == 0 else { return (lines(of: summary, from, to), true) }
        if let directory = from.path ?? to.path {
          try await FileHandover(from: source, to: target, directory: directory).run()
        }
        let now = SystemClock.now().rfc3339
        // In this order: between the two steps no server starts on either endpoint, and the same move may be run again.
        try await source.setMoveMark(
          MoveMark(.moved, detail: "to \(to.description) at \(now)"))
        try await target.setMoveMark(nil)
        report.progress(1, "")
        return (lines(of: summary, from, to), false)
      }
    }
  }

  /// Removes the mark of a move, so that servers start there again.
  /// - Returns: one line.
  /// - Throws: as ``move(from:to:passwordFile:_:)`` does.
  package static func undo(_ text: String, passwordFile: String?) async throws -> String {
    let endpoint = try MoveEndpoint(text, passwordFile: passwordFile)
    if let path = endpoint.path { try FileEngine.requireDirectory(path) }
    return try await MoveEndpoint.with(endpoint) { engine in
      guard let mark = try await engine.moveMark() else {
        return "\(endpoint.description) has no mark of a move"
      }
      guard mark.kind == .moved else {
        throw MoveError(mark.reason(at: endpoint.description, removal: ""))
      }
      try await engine.setMoveMark(nil)
      return "servers may use \(endpoint.description) again; it was moved \(mark.detail)"
    }
  }

  /// Checks that the source was not moved before, and that the target is empty or has a part of this same move.
  /// - Parameter unfinished: the mark of this move.
  /// - Throws: ``MoveError``.
  private static func requireFree(
    _ source: any CopyingEngine, _ target: any CopyingEngine, _ from: MoveEndpoint,
    _ to: MoveEndpoint, _ unfinished: MoveMark
  ) async throws {
    let (sourceMark, targetMark) = (try await source.moveMark(), try await target.moveMark())
    if let mark = targetMark, mark != unfinished {
      throw MoveError(mark.reason(at: to.description, removal: undoing(to)))
    }
    // The last move ended between its two last steps.
    if sourceMark?.kind == .moved, targetMark?.kind == .unfinished { return }
    if let mark = sourceMark {
      throw MoveError(mark.reason(at: from.description, removal: undoing(from)))
    }
    if targetMark == nil, try await !StoreMove.isEmpty(target) {
      throw MoveError("\(to.description) has stores already; move into an empty place")
    }
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
    if summary.damaged > 0 {
      lines.append(
        "\(summary.damaged) stores are damaged, and the accounts were not moved; repair them and run the move again"
      )
    }
    return lines
  }
}
