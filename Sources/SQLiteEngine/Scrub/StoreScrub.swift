import Documents
import SQLite
import Stores

/// Checks one store's file: the checksum of every row, every body and tree, the winners, the counts in the header, and
/// SQLite's own checks. Changes nothing.
struct StoreScrub {
  /// The most findings that are reported for a file.
  static let maximumFindings = 20

  /// The open file.
  let rows: StoreRows
  /// The file's name for findings.
  let name: String
  /// Receives the findings.
  let reporter: ScrubReporter
  /// The counts so far.
  private(set) var counts = ScrubCounts()

  /// The store that the file must belong to; nil for what is not known.
  struct Owner {
    /// The store's key.
    var key: String?
    /// The store's epoch.
    var epoch: String?
  }

  /// Checks a file.
  /// - Parameter name: the file's name in findings.
  /// - Returns: the counts. If the file can't be opened, they are one store and one finding.
  static func run(
    _ file: DatabaseFile, of owner: Owner, as blank: BlankDatabase, name: String,
    _ reporter: ScrubReporter
  ) -> ScrubCounts {
    var failed = ScrubCounts()
    failed.stores = 1
    do {
      let connection = try Connection.inspecting(file, as: blank.schema)
      var scrub = StoreScrub(rows: StoreRows(connection, as: blank), name: name, reporter: reporter)
      scrub.counts.stores = 1
      scrub.all(of: owner, as: blank)
      try connection.close()
      return scrub.counts
    } catch {
      reporter.finding(ScrubFinding(file: name, reason: ServiceError(engine: error).message))
      failed.findings = 1
      return failed
    }
  }

  private mutating func all(of owner: Owner, as blank: BlankDatabase) {
    attempt { scrub in try scrub.structure(as: blank) }
    attempt { scrub in try scrub.documentsAndCounts(of: owner) }
    attempt { scrub in try scrub.orphanedBodies() }
    attempt { scrub in try scrub.locals() }
    attempt { scrub in try scrub.indexes() }
  }

  /// Runs a part of the scrub. After damage, the scrub continues with the next part to find other damage.
  private mutating func attempt(_ part: (inout StoreScrub) throws -> Void) {
    do { try part(&self) } catch { find(ServiceError(engine: error).message) }
  }

  /// Reports a finding. After ``maximumFindings``, one last line says that there are more.
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

  /// Counts a body that was checked.
  mutating func count(body: Int) {
    counts.bodies += 1
    counts.bytes += body
  }

  /// Counts a document that was checked.
  mutating func countDocument() { counts.documents += 1 }

  /// Checks the tables' definitions, and lets SQLite check all pages and the indexes against their tables.
  private mutating func structure(as blank: BlankDatabase) throws {
    if try rows.connection.userVersion() == blank.schema.version {
      do { try blank.definitions.requireMatch(in: rows.connection) } catch {
        find(ServiceError(engine: error).message)
      }
    }
    let findings = try rows.connection.integrityCheck()
    for finding in findings { find("integrity check: " + finding) }
  }
}

extension Connection {
  /// Opens a file of this service to check it, without changing anything.
  /// - Throws: `damaged` for a file that is missing, empty or of another kind; `unavailable` for a file of another
  ///   version.
  static func inspecting(_ file: DatabaseFile, as schema: Schema) throws -> Connection {
    let hasLog = try file.requireSound()
    let connection = try Connection.inspecting(path: file.path, hasLog: hasLog)
    try schema.requireKnown(connection)
    return connection
  }
}

/// Checking documents, their histories and bodies, and the header's counts.
extension StoreScrub {
  /// The sums over all rows.
  private struct Sums {
    var live: Int64 = 0
    var deleted: Int64 = 0
    var bytes: Int64 = 0
  }

  /// Checks every document, and then the header.
  mutating func documentsAndCounts(of owner: Owner) throws {
    var sums = Sums()
    try rows.connection.statement(
      StoredDocument.selected, ", body, tree FROM documents ORDER BY sequence"
    ).query { row in
      countDocument()
      let sequence = row.int64(0)
      do {
        try document(in: row, &sums)
      } catch { find("change \(sequence): \(ServiceError(engine: error).message)") }
    }
    try header(of: owner, sums)
  }

  private mutating func document(in row: borrowing Row, _ sums: inout Sums) throws {
    let found = StoredDocument.reading(row)
    let stored = try found.verified()
    sums.bytes += Int64(found.content.count)
    if stored.isDeleted { sums.deleted += 1 } else { sums.live += 1 }
    var lengths: [Int] = []
    defer { for length in lengths { count(body: length) } }
    try rows.check(stored, found.content, tree: row.bytes(13), into: &lengths)
    try rows.checkArrivals(of: stored)
    let body = try DocumentBody(parsing: found.content, limits: .stored)
    guard body.type.map({ Array($0.utf8) }) == stored.type.map({ Array($0.utf8) }) else {
      throw ServiceError.integrity("the row's type is not the body's")
    }
  }

  private func keptBytes() throws -> Int64 {
    guard try rows.has(.bodies) else { return 0 }
    return try number("SELECT coalesce(sum(length(body)), 0) FROM bodies")
  }

  /// Checks that the file belongs to the expected store and that the header's counts match the rows.
  private mutating func header(of owner: Owner, _ sums: Sums) throws {
    let header = try StoreHeader(readingFrom: rows.connection)
    if let key = owner.key, !key.equalsBytes(of: header.key) { find("the file is another store's") }
    if let epoch = owner.epoch, !epoch.equalsBytes(of: header.epoch) {
      find("the file is of another life of this store")
    }
    for (title, said, counted) in [
      ("documents", header.live, sums.live), ("tombstones", header.deleted, sums.deleted),
      ("bytes", header.bytes, sums.bytes),
      ("bytes of other bodies", header.otherBodyBytes, try keptBytes()),
    ] where said != counted {
      find("the header says \(said) \(title), the rows are \(counted)")
    }
    if header.newest > header.lastSequence || header.lastSequence < 0 {
      find("the last change has the number \(header.newest), the header says less")
    }
  }

  // MARK: Checking rows that do not belong to documents

  /// Finds bodies and pieces of histories that belong to no document, and documents with the same `first`.
  mutating func orphanedBodies() throws {
    let orphans =
      try rows.has(.bodies)
      ? number("SELECT count(*) FROM bodies WHERE first NOT IN (SELECT first FROM documents)") : 0
    let shared = try number("SELECT count(*) - count(DISTINCT first) FROM documents")
    if orphans > 0 { find("\(orphans) stored bodies belong to no document") }
    let pieces =
      try rows.has(.histories)
      ? number("SELECT count(*) FROM histories WHERE first NOT IN (SELECT first FROM documents)")
      : 0
    if pieces > 0 { find("\(pieces) pieces of histories belong to no document") }
    if shared > 0 { find("\(shared) documents share the number of a first change with another") }
  }

  /// Checks every local document.
  mutating func locals() throws {
    guard try rows.has(.locals) else { return }
    let ids = try rows.connection.statement("SELECT id FROM locals ORDER BY id").all {
      row in LocalID(stored: try row.string(0))
    }
    for id in ids {
      do {
        // At the earliest possible time, no local document has expired.
        _ = try rows.local(id, at: Timestamp(milliseconds: .min))
      } catch { find(ServiceError(engine: error).message) }
    }
  }

  /// Checks the indexes' rows, and finds entries that belong to no index or no document, and entries that fail their
  /// checksums.
  ///
  /// If one bit of an entry's key changes, the two trees that contain the key differ. SQLite's own check finds that,
  /// too.
  mutating func indexes() throws {
    guard try rows.has(.entries) else { return }
    let last = try number("SELECT last_sequence FROM header")
    for index in try rows.indexNames() {
      do {
        guard let sequence = try rows.indexedSequence(index), sequence <= last else {
          throw ServiceError.integrity("an index has seen changes that there are not")
        }
      } catch { find(ServiceError(engine: error).message) }
    }
    let (lost, stray) = (
      try number(
        "SELECT count(*) FROM entries WHERE number NOT IN (SELECT number FROM indexes)"),
      try number("SELECT count(*) FROM entries WHERE id NOT IN (SELECT id FROM documents)")
    )
    if lost > 0 { find("\(lost) entries belong to no index") }
    if stray > 0 { find("\(stray) entries lead to no document") }
    let damaged = try rows.damagedEntries()
    if damaged > 0 { find("\(damaged) entries of indexes fail their checksums") }
  }

  private func number(_ sql: StaticString) throws -> Int64 {
    try rows.connection.integer(sql) ?? 0
  }
}
