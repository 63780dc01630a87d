import Documents
import Stores

/// Answers a page of `_changes` from one state of a store.
struct ChangesReader {
  /// Changes that are read from the store at once, at most.
  private static let longestBatch = 500

  private let view: any StoreView
  private let query: ChangesQuery
  private let info: StoreInfo
  private let tag: StoreTag
  /// What looks at the changes; kept for the next reader where this one gives no page.
  private(set) var matcher: ChangesMatcher
  private var rows: [[UInt8]] = []
  private var bytes = 0
  /// Changes that were looked at.
  private var scanned = 0
  /// Whether a selector had no time left for the next change.
  private var isCut = false

  /// A reader over one state of the store with a tag.
  init(
    _ view: any StoreView, _ query: ChangesQuery, of tag: StoreTag, _ matcher: ChangesMatcher
  ) throws(StoreError) {
    self.view = view
    self.query = query
    self.tag = tag
    self.matcher = matcher
    info = try view.info()
  }

  /// The rows after the query's place, oldest first; nil when a selector takes too long on the first
  /// document, or longer than the slice. On a later one the page ends before it.
  mutating func ascending() throws(StoreError) -> ChangesPage? {
    let start = query.since.position(in: info)
    let end = query.end ?? info.lastSequence
    var position = start.sequence
    var isAtEnd = false
    var isOver = query.limit == 0
    while !isAtEnd, !isOver {
      let wanted = batch
      let changes = try view.changes(after: position, limit: wanted)
      let known = changes.prefix { $0.sequence <= end }
      guard let seen = try append(known) else { return nil }
      position = seen.last?.sequence ?? position
      let reachesEnd = changes.count < wanted || (changes.last?.sequence ?? end) >= end
      isAtEnd = seen.count == known.count && reachesEnd
      isOver = isDone || seen.count < known.count
    }
    // Numbers behind the last change are of documents that were purged.
    if isAtEnd { position = max(position, end) }
    let isComplete = isAtEnd || rows.count == query.limit
    return ChangesPage(
      rows: rows, last: .at(position, in: info, of: tag),
      pending: try pending(after: position, isExact: isComplete), isComplete: isComplete,
      isRewound: start.isRewound, end: end)
  }

  /// The rows before the query's place, newest first; nil as in ``ascending()``.
  mutating func descending() throws(StoreError) -> ChangesPage? {
    var last = query.end ?? info.lastSequence
    var next = last
    var isAtEnd = false
    var isOver = query.limit == 0
    while !isAtEnd, !isOver {
      let wanted = batch
      let changes = try view.changes(upTo: next, limit: wanted)
      guard let seen = try append(changes[...]) else { return nil }
      last = seen.last?.sequence ?? last
      next = seen.last.map { $0.sequence - 1 } ?? next
      isAtEnd = seen.count == changes.count && changes.count < wanted
      isOver = isDone || seen.count < changes.count
    }
    return ChangesPage(
      rows: rows, last: .at(last, in: info, of: tag), pending: 0,
      isComplete: isAtEnd || rows.count == query.limit, isRewound: false, end: next)
  }

  /// How many changes to read next: where each makes a row, no more than rows are wanted.
  private var batch: Int {
    guard case .everything = query.filter else { return Self.longestBatch }
    return min(Self.longestBatch, (query.limit ?? .max) - rows.count)
  }

  /// Appends the rows of changes until the page is done.
  /// - Returns: the changes that were looked at; nil when a selector takes too long on the page's first.
  private mutating func append(
    _ changes: ArraySlice<Change>
  ) throws(StoreError) -> ArraySlice<Change>? {
    var count = 0
    for change in changes where !isDone {
      guard let revisions = try matcher.revisions(of: change, in: view) else {
        isCut = true
        return scanned == 0 ? nil : changes.prefix(count)
      }
      if !revisions.isEmpty { try append(change, revisions) }
      count += 1
      scanned += 1
    }
    return changes.prefix(count)
  }

  /// Whether the page takes no more, for what it holds or for what it has cost.
  private var isDone: Bool {
    isCut || rows.count == query.limit || rows.count >= CouchLimits.pageRows
      || bytes >= CouchLimits.pageBytes || scanned >= CouchLimits.pageScan
      || matcher.bytes >= CouchLimits.pageScanBytes
  }

  /// How many changes come after a number, whether the filter wants them or not, as in CouchDB. Counting takes
  /// time, so a page that others follow gets a bound instead: every document has one row, at its last change,
  /// so no more rows are left than numbers, nor more than documents.
  private func pending(after position: Int64, isExact: Bool) throws(StoreError) -> Int {
    if isExact { return Int(clamping: try view.changeCount(after: position)) }
    let numbers = info.lastSequence.subtractingReportingOverflow(position).partialValue
    return Int(clamping: max(0, min(numbers, info.documentCount &+ info.deletedCount)))
  }

  private mutating func append(
    _ change: Change, _ revisions: [RevisionID]
  ) throws(StoreError) {
    var writer = JSONWriter(reserving: 160)
    writer.beginObject()
    writer.member("seq", SinceToken.at(change.sequence, in: info, of: tag).text)
    writer.member("id", change.id.text)
    writer.name("changes")
    writer.beginArray()
    for revision in revisions {
      writer.beginObject()
      writer.member("rev", revision.description)
      writer.endObject()
    }
    writer.endArray()
    if change.isDeleted { writer.member("deleted", true) }
    if query.includesDocuments, let document = try view.document(change.id) {
      writer.name("doc")
      writer.raw(try DocumentReader(document, in: view, extras: query.extras).winning())
    }
    writer.endObject()
    bytes += writer.bytes.count
    rows.append(writer.bytes)
  }
}
