import Documents
import Hotels
import SQLite

/// Makes an imported catalogue of the first edition anew from its own rows, so that nobody has to import it again.
enum CatalogueUpgrade {
  /// The edition that can be upgraded.
  private static let former: Int32 = 1
  /// How many rows are in memory at once.
  private static let rowsAtOnce = 256

  /// Upgrades the catalogue if it is of that edition. Blocks for as long as the import took.
  /// - Returns: whether there is a new one now.
  /// - Throws: `busy`, `storageFull`, `unavailable`, `damaged`; the old one then still stands.
  static func run(_ files: CatalogueFiles) throws(CatalogueError) -> Bool {
    guard let old = try? Connection(path: files.database, mode: .readOnly),
      (try? old.userVersion()) == former, files.kindInHeader() == .imported
    else { return false }
    guard let origin = try OpenCatalogue.storedOrigin(.imported, in: old) else { return false }
    let run = try ImportRun(
      into: files, kind: .imported, name: origin.name, date: origin.date, onBadRow: .refuse,
      report: { _ in })
    do throws(CatalogueError) {
      try copyRows(of: old, into: run)
      _ = try run.finish()
    } catch {
      run.abandon()
      throw error
    }
    return true
  }

  private static func copyRows(
    of old: Connection, into run: ImportRun
  ) throws(CatalogueError) {
    var last: Int64 = -1
    while true {
      let rows = try CatalogueError.translating { () throws(SQLiteError) in
        try old.statement(
          "SELECT seq, body FROM hotel WHERE seq > ?1 ORDER BY seq LIMIT ?2"
        ).all(.integer(Int(last)), .integer(rowsAtOnce)) { row throws(SQLiteError) in
          (seq: row.int64(0), body: row.bytes(1))
        }
      }
      guard let end = rows.last?.seq else { return }
      for row in rows { try run.take(row.body + [0x0A]) }
      last = end
    }
  }
}
