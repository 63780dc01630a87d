package import Documents
import Stores

/// Some entries of the audit log, in the order of their times: a local document of the system store, so that a database's
/// servers have one log, backups have it, and it is forgotten by itself. The body is a line for each entry.
struct AuditPiece: Sendable {
  /// A piece of so many bytes takes no further entry: each entry writes its piece again.
  static let bytes = 16_384
  /// The seconds after which a piece takes no further entry, so that the pieces of several servers are nearly in order.
  static let seconds: Int64 = 3_600

  private static let prefix = LocalID.receiptPrefix + "audit/"

  let id: LocalID
  let begun: Timestamp
  var revision: Int64 = 0
  var body: [UInt8] = []

  /// A new piece without entries.
  /// - Parameter number: how many pieces the server had before: several may begin in one millisecond.
  /// - Parameter server: tells the pieces of servers apart.
  init(at time: Timestamp, number: Int, of server: String) {
    begun = time
    let digits = String(number % 1_000_000 + 1_000_000).dropFirst()
    id = LocalID(stored: Self.prefix + time.rfc3339 + "-" + digits + "-" + server)
  }

  func isFull(at time: Timestamp) -> Bool {
    // A clock that was set back begins another one, too.
    body.count >= Self.bytes || time < begun || begun.adding(seconds: Self.seconds) <= time
  }

  var edit: LocalEdit {
    LocalEdit(
      id, LocalDocument(revision: revision, body: body),
      expires: begun.adding(seconds: Int64(AuditLog.days) * 86_400))
  }

  /// The ids of the pieces that may have entries of a time or a later one. Those that are forgotten are left out, because a
  /// reader sees them until they are removed.
  static func range(since time: Timestamp?, at now: Timestamp) -> DocumentRange {
    let oldest = now.adding(seconds: -Int64(AuditLog.days) * 86_400)
    let start = time.map { max($0.adding(seconds: -seconds), oldest) } ?? oldest
    // "0" is the byte after "/".
    return DocumentRange(
      start: prefix + start.rfc3339, end: LocalID.receiptPrefix + "audit0", includesEnd: false)
  }

  /// The part of a range behind a position, which is the end of an id.
  static func range(_ range: DocumentRange, behind position: String) -> DocumentRange {
    range.behind(prefix + position)
  }

  /// The position of a piece.
  static func position(of id: LocalID) -> String { String(id.text.dropFirst(prefix.count)) }

  /// The body that stands for a piece which can't be read: it says that its entries are lost.
  static func lost(at position: String) -> [UInt8] {
    let time = position.prefix { $0 != "Z" } + "Z"
    return AuditEvent(.entriesLost, about: "damage")
      .line(at: Timestamp(rfc3339: String(time)) ?? Timestamp(milliseconds: 0), from: nil)
  }
}

/// Some entries of the audit log.
package struct AuditPage: Sendable {
  /// A line for each, an object in JSON without its line break, in the order of their times.
  package var lines: [[UInt8]] = []
  /// The position behind which the next page begins; nil at the end.
  package var next: String?
}

extension AccountService {
  /// The pieces of a page at most: about 1,000 entries.
  private static let piecesAtOnce = 8

  /// Stores the entries that wait. One caller at a time.
  /// - Throws: the system store's errors; what was not stored waits on.
  package func writeAudit() async throws {
    while let (piece, count) = audit.next() {
      try await accounts.stores.update(.system, as: .server) { changes in
        changes.write(piece.edit)
      }
      audit.settle(piece, taking: count)
    }
  }

  /// Whether there is an entry of the last ``AuditLog/days`` days: a server keeps the log, or kept it.
  /// - Throws: the system store's errors.
  package func hasAudit() async throws -> Bool {
    let range = AuditPiece.range(since: nil, at: now())
    return try await accounts.read(orAbsent: false) { view in
      try !view.localIDs(range, atMost: 1) { $0 }.isEmpty
    }
  }

  /// A page of the log. A piece that can't be read hides no other. Entries of several servers within an hour may be on a
  /// later page than they should.
  /// - Parameter time: entries before it are left out; nil for all.
  /// - Parameter newest: whether to begin with the newest entries.
  /// - Parameter last: ``AuditPage/next`` of the page before; nil for the first page.
  /// - Throws: the system store's errors.
  package func audit(
    since time: Timestamp?, newest: Bool, after last: String?
  ) async throws -> AuditPage {
    var range = AuditPiece.range(since: time, at: now())
    range.descending = newest
    if let last { range = AuditPiece.range(range, behind: last) }
    let (rest, limit) = (range, Self.piecesAtOnce)
    typealias Found = [(position: String, body: [UInt8])]
    let pieces = try await accounts.read(orAbsent: Found()) { view in
      var pieces = Found()
      try view.allLocals(rest) { id, piece in
        let position = AuditPiece.position(of: id)
        pieces.append((position, piece?.body ?? AuditPiece.lost(at: position)))
        return pieces.count <= limit
      }
      return pieces
    }
    let lines = pieces.prefix(limit).flatMap { piece in
      let lines = piece.body.split(separator: UInt8(ascii: "\n"))
      return newest ? lines.reversed() : lines
    }
    // All lines begin with their times. Of one time, they stay as they are: those of one server are in order.
    let first = Array("{\"time\":\"\(time?.rfc3339 ?? "")".utf8)
    let length = "{\"time\":\"".utf8.count + now().rfc3339.utf8.count
    let sorted = lines.enumerated().filter { !$1.lexicographicallyPrecedes(first) }.sorted {
      let (one, other) = ($0.element.prefix(length), $1.element.prefix(length))
      guard one.elementsEqual(other) else { return one.lexicographicallyPrecedes(other) != newest }
      return $0.offset < $1.offset
    }
    var page = AuditPage(lines: sorted.map { Array($0.element) })
    if pieces.count > limit { page.next = pieces[limit - 1].position }
    return page
  }
}
