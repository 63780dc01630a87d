import Documents
import SQLite
import Stores

/// Looks through one store's file: every row's checksum, every body and tree, the winners, what the header
/// counts, and SQLite's own checks. Changes nothing.
struct StoreScrub {
  /// How many findings a file is given: one that is damaged all over is not worth more lines.
  static let maximumFindings = 20

  /// The open file.
  let rows: StoreRows
  /// Its version of the tables.
  let version: Int32
  /// The file's name for findings.
  let name: String
  /// Takes findings.
  let reporter: ScrubReporter
  /// What was looked at so far.
  private(set) var counts = ScrubCounts()

  /// Whose file it must be; nil for what can't be known.
  struct Owner {
    /// The store's key.
    var key: String?
    /// The store's life.
    var epoch: String?
  }

  /// Looks through a file.
  /// - Parameter name: what findings call it.
  /// - Returns: what was looked at; nothing where the file can't be opened at all.
  static func run(
    _ file: DatabaseFile, of owner: Owner, as blank: BlankDatabase, name: String,
    _ reporter: ScrubReporter
  ) -> ScrubCounts {
    var failed = ScrubCounts()
    failed.stores = 1
    do throws(StoreError) {
      let connection = try Connection.inspecting(file, as: blank.schema)
      let version = try storing { () throws(SQLiteError) in try connection.userVersion() }
      var scrub = StoreScrub(
        rows: StoreRows(connection), version: version, name: name, reporter: reporter)
      scrub.counts.stores = 1
      scrub.all(of: owner, as: blank)
      try storing { () throws(SQLiteError) in try connection.close() }
      return scrub.counts
    } catch {
      reporter.finding(ScrubFinding(file: name, reason: error.words))
      failed.findings = 1
      return failed
    }
  }

  private init(rows: StoreRows, version: Int32, name: String, reporter: ScrubReporter) {
    self.rows = rows
    self.version = version
    self.name = name
    self.reporter = reporter
  }

  private mutating func all(of owner: Owner, as blank: BlankDatabase) {
    attempt { scrub throws(StoreError) in try scrub.structure(as: blank) }
    attempt { scrub throws(StoreError) in try scrub.documentsAndCounts(of: owner) }
    attempt { scrub throws(StoreError) in try scrub.bodiesOfNobody() }
    attempt { scrub throws(StoreError) in try scrub.locals() }
    if version > 1 { attempt { scrub throws(StoreError) in try scrub.indexes() } }
  }

  /// Goes on after damage: what else is wrong is worth knowing.
  private mutating func attempt(_ part: (inout StoreScrub) throws(StoreError) -> Void) {
    do throws(StoreError) { try part(&self) } catch { find(error.words) }
  }

  /// Reports damage, up to a number of lines.
  mutating func find(_ reason: String) {
    counts.findings += 1
    guard counts.findings <= Self.maximumFindings else {
      if counts.findings == Self.maximumFindings + 1 {
        reporter.finding(ScrubFinding(file: name, reason: "and more"))
      }
      return
    }
    reporter.finding(ScrubFinding(file: name, reason: reason))
  }

  /// Counts a body that was looked at.
  mutating func count(body: Int) {
    counts.bodies += 1
    counts.bytes += body
  }

  /// Counts a document that was looked at.
  mutating func countDocument() { counts.documents += 1 }

  /// The tables' definitions, and SQLite's checks of all pages and of indexes against their tables.
  private mutating func structure(as blank: BlankDatabase) throws(StoreError) {
    if version == blank.schema.version {
      let found = try storing { () throws(SQLiteError) in
        try Schema.definitions(in: rows.connection)
      }
      if !found.elementsEqual(blank.definitions, by: { $0.utf8.elementsEqual($1.utf8) }) {
        find("the tables' definitions are not this version's")
      }
    }
    let findings = try storing { () throws(SQLiteError) in
      try rows.connection.integrityCheck(.full)
    }
    for finding in findings { find("integrity check: " + finding) }
  }
}

extension Connection {
  /// Opens a file of ours to be looked at, without a trace.
  /// - Throws: `damaged` for one that is missing, empty or of another kind; `unavailable` for one of a newer
  ///   version.
  static func inspecting(
    _ file: DatabaseFile, as schema: Schema
  ) throws(StoreError) -> Connection {
    let hasLog = try file.requireSound()
    let connection = try storing { () throws(SQLiteError) in
      try Connection.inspecting(path: file.path, hasLog: hasLog)
    }
    try schema.requireKnown(connection)
    return connection
  }
}

extension StoreError {
  /// The error for an operator: the detail where there is one.
  var words: String {
    let detail = detail.split(whereSeparator: \.isNewline).joined(separator: " ")
    return detail.isEmpty ? reason : "\(reason) (\(detail))"
  }
}
