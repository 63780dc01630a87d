import Documents
import SQLite
import Stores

/// Counts of `documents`, by its indexes alone: no body is read.
extension StoreRows {
  /// The number of the last document, 0 for none.
  func newestSequence() throws -> Int64 {
    try connection.statement("SELECT coalesce(max(sequence), 0) FROM documents").first {
      row in row.int64(0)
    } ?? 0
  }

  /// Documents after a number, which must be counted: between those numbers that a document has there are
  /// others that none has any more.
  ///
  /// The index of the ids has each row's number and takes a twentieth of the table's pages, bodies of 1 KB
  /// assumed. So it is walked whole, unless so few numbers are left, or have come since a count that is known,
  /// that this part of the table is shorter.
  func count(after sequence: Int64, last: Int64, documents: Int64) throws -> Int64 {
    let known = counts.nearest(upTo: sequence) ?? (sequence: 0, count: documents)
    let count: Int64
    if Self.isShort(from: known.sequence, to: sequence, of: documents) {
      count = try known.count - self.count(after: known.sequence, upTo: sequence)
    } else if Self.isShort(from: sequence, to: last, of: documents) {
      count = try self.count(after: sequence, upTo: last)
    } else {
      count =
        try connection.statement(
          """
          SELECT count(*) FROM documents INDEXED BY sqlite_autoindex_documents_1 WHERE sequence > ?1
          """
        ).first(.integer(sequence)) { row in row.int64(0) } ?? 0
    }
    counts.remember((sequence, count), insteadOf: known.sequence)
    return count
  }

  private static func isShort(from start: Int64, to end: Int64, of documents: Int64) -> Bool {
    let (cost, overflows) = (end - start).multipliedReportingOverflow(by: 20)
    return !overflows && cost < documents
  }

  private func count(after start: Int64, upTo end: Int64) throws -> Int64 {
    try connection.statement(
      "SELECT count(*) FROM documents WHERE sequence > ?1 AND sequence <= ?2"
    ).first(.integer(start), .integer(end)) { row in row.int64(0) } ?? 0
  }

  /// Counts among the first so many ids of a range, without those of tombstones unless these are wanted.
  /// - Returns: besides, the last of those ids, if there are so many.
  func count(
    _ range: DocumentRange, among ids: Int
  ) throws -> (count: Int, last: DocumentID?) {
    // Text sorts before every blob, so an empty blob stands behind the last id; and no id equals one.
    let end = range.end.map { Binding.text($0) } ?? .bytes([])
    let without: Binding = range.includesEnd ? .bytes([]) : end
    let start = Binding.text(range.start ?? "")
    let found = try (range.descending ? lastIDs : firstIDs)
      .first(start, end, without, .integer(ids)) { row in
        (
          count: Int(row.int64(0)),
          last: row.isNull(1) ? nil : DocumentID(stored: try row.string(1))
        )
      }
    guard let found, let last = found.last else { return (0, nil) }
    let next = found.count == ids ? last : nil
    guard !range.includesDeleted else { return (found.count, next) }
    let reached = Binding.text(last.text)
    let deleted = try connection.statement(
      """
      SELECT count(*) FROM documents INDEXED BY documents_deleted
      WHERE is_deleted = 1 AND id >= ?1 AND id <= ?2 AND id <> ?3
      """
    ).first(range.descending ? reached : start, range.descending ? end : reached, without) {
      row in Int(row.int64(0))
    }
    return (found.count - (deleted ?? 0), next)
  }

  private var firstIDs: Statement {
    get throws {
      try connection.statement(
        """
        SELECT count(*), max(id) FROM (
          SELECT id FROM documents INDEXED BY sqlite_autoindex_documents_1
          WHERE id >= ?1 AND id <= ?2 AND id <> ?3 ORDER BY id LIMIT ?4)
        """)
    }
  }

  private var lastIDs: Statement {
    get throws {
      try connection.statement(
        """
        SELECT count(*), min(id) FROM (
          SELECT id FROM documents INDEXED BY sqlite_autoindex_documents_1
          WHERE id >= ?1 AND id <= ?2 AND id <> ?3 ORDER BY id DESC LIMIT ?4)
        """)
    }
  }
}

/// How many documents come after a number, for the numbers that were asked about last: a walk over the changes
/// goes on from the count of its page before, where counting anew for each page would be quadratic.
struct ChangeCounts {
  /// A number, and how many documents come after it.
  typealias Place = (sequence: Int64, count: Int64)

  /// How many are kept: so many walks that take turns.
  private static let maximumPlaces = 8

  /// The one that was used last stands last.
  private var places: [Place] = []

  /// The nearest number up to this one; nil where none is known.
  func nearest(upTo sequence: Int64) -> Place? {
    places.filter { $0.sequence <= sequence }.max { $0.sequence < $1.sequence }
  }

  /// Keeps a count, in the place of one that it went on from.
  mutating func remember(_ place: Place, insteadOf former: Int64? = nil) {
    places.removeAll { $0.sequence == place.sequence || $0.sequence == former }
    if places.count == Self.maximumPlaces { places.removeFirst() }
    places.append(place)
  }

  /// A document has got another number; its first one, or none any more.
  mutating func move(from old: Int64?, to new: Int64?) {
    for index in places.indices {
      if let old, old > places[index].sequence { places[index].count -= 1 }
      if let new, new > places[index].sequence { places[index].count += 1 }
    }
  }
}
