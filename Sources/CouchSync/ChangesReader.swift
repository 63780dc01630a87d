import Documents
import Stores

/// Answers a page of `_changes` from one state of a store.
struct ChangesReader {
  /// Changes that are read from the store at once.
  private static let batch = 500

  private let view: any StoreView
  private let query: ChangesQuery
  private let info: StoreInfo
  private var rows: [[UInt8]] = []
  private var bytes = 0

  /// A reader over one state.
  init(_ view: any StoreView, _ query: ChangesQuery) throws(StoreError) {
    self.view = view
    self.query = query
    info = try view.info()
  }

  /// The rows after the query's place, oldest first.
  mutating func ascending() throws(StoreError) -> ChangesPage {
    let start = query.since.position(in: info)
    let end = query.end ?? info.lastSequence
    var position = start.sequence
    var scanned = 0
    var isComplete = query.limit == 0
    reading: while !isComplete, !isFull, scanned < CouchLimits.pageScan {
      let batch = try view.changes(after: position, limit: Self.batch)
      isComplete = batch.count < Self.batch
      for change in batch {
        guard change.sequence <= end else {
          isComplete = true
          break reading
        }
        position = change.sequence
        scanned += 1
        if query.filter.wants(change.id) { try append(change) }
        if rows.count == query.limit {
          isComplete = true
          break reading
        }
        if isFull {
          isComplete = false
          break reading
        }
      }
    }
    return ChangesPage(
      rows: rows, last: .at(position, in: info), pending: pending(after: position),
      isComplete: isComplete, isRewound: start.isRewound, end: end)
  }

  /// The rows before the query's place, newest first. The store walks up only, so the way is walked and
  /// its last stretch kept.
  mutating func descending() throws(StoreError) -> ChangesPage {
    let end = query.end ?? info.lastSequence
    let wanted = min(query.limit ?? .max, CouchLimits.pageRows)
    var kept: [Change] = []
    var position: Int64 = 0
    var hasMore = wanted > 0
    var hasEarlier = false
    while hasMore {
      let batch = try view.changes(after: position, limit: Self.batch)
      hasMore = batch.count == Self.batch
      for change in batch where change.sequence <= end && query.filter.wants(change.id) {
        kept.append(change)
      }
      position = batch.last?.sequence ?? position
      if position > end { hasMore = false }
      if kept.count > wanted {
        kept.removeFirst(kept.count - wanted)
        hasEarlier = true
      }
    }
    var last = end
    var shown = 0
    for change in kept.reversed() where !isFull {
      try append(change)
      last = change.sequence
      shown += 1
    }
    let isComplete = rows.count == query.limit ?? -1 || (!hasEarlier && shown == kept.count)
    return ChangesPage(
      rows: rows, last: .at(last, in: info), pending: 0, isComplete: isComplete || wanted == 0,
      isRewound: false, end: last &- 1)
  }

  private var isFull: Bool {
    rows.count >= CouchLimits.pageRows || bytes >= CouchLimits.pageBytes
  }

  /// Every document has one row, at its last change, so no more rows are left than numbers, nor more than
  /// documents.
  private func pending(after position: Int64) -> Int {
    let numbers = info.lastSequence.subtractingReportingOverflow(position).partialValue
    return Int(clamping: max(0, min(numbers, info.documentCount &+ info.deletedCount)))
  }

  private mutating func append(_ change: Change) throws(StoreError) {
    var writer = JSONWriter(reserving: 160)
    writer.beginObject()
    writer.member("seq", SinceToken.at(change.sequence, in: info).text)
    writer.member("id", change.id.text)
    writer.name("changes")
    writer.beginArray()
    for revision in try revisions(change) {
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

  private func revisions(_ change: Change) throws(StoreError) -> [RevisionID] {
    guard query.style == .leaves, let tree = try view.tree(change.id) else {
      return [change.revision]
    }
    return tree.leaves.map(\.revision)
  }
}
