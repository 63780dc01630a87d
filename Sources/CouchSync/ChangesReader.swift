import CouchQuery
import Documents
import JSON
import Lanes
import Stores

/// Answers a page of `_changes` in slices, each from one state of a store.
struct ChangesReader: Sendable {
  /// How many changes are read from the store at once, at most and at least.
  private static let batches = 16...500

  private let query: ChangesQuery
  private let tag: StoreTag
  private var matcher: ChangesMatcher
  private var rows: [[UInt8]] = []
  private var bytes = 0
  /// Changes that were looked at.
  private var scanned = 0
  /// Whether a selector had no time left for the next change.
  private var isCut = false
  /// The state in which the page began; nil before.
  private var info: StoreInfo?
  /// Where the next changes are read.
  private var position: Int64 = 0
  /// The last change that was looked at on the way down.
  private var last: Int64?
  /// As many changes as a slice is likely to look at.
  private var longestBatch = Self.batches.upperBound

  /// A reader of a store with a tag.
  init(_ query: ChangesQuery, of tag: StoreTag) {
    self.query = query
    self.tag = tag
    matcher = ChangesMatcher(query)
  }

  /// What a selector that takes too long on a page's first document comes to; on a later one the page ends before
  /// it.
  enum Outcome: Sendable {
    case page(ChangesPage)
    case spent
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: the page, once it is done.
  mutating func read(_ view: any StoreView) throws -> Outcome? {
    let seen = scanned
    let outcome =
      query.descending ? try descend(view) : try ascend(view)
    if outcome == nil {
      // What a slice does not come to is read again in the next.
      longestBatch = min(
        max(2 * (scanned - seen), Self.batches.lowerBound), Self.batches.upperBound)
    }
    return outcome
  }

  /// The state in which the page began: this one, if nothing is known yet.
  private mutating func begun(_ view: any StoreView) throws -> StoreInfo {
    if let info { return info }
    let first = try view.info()
    info = first
    position =
      query.descending
      ? query.end ?? first.lastSequence : query.since.position(in: first).sequence
    return first
  }

  /// The rows after the query's place, oldest first.
  private mutating func ascend(_ view: any StoreView) throws -> Outcome? {
    let info = try begun(view)
    let start = query.since.position(in: info)
    let end = query.end ?? info.lastSequence
    var isAtEnd = false
    var isOver = query.limit == 0
    while !isAtEnd, !isOver {
      let wanted = batch
      let (changes, documents, isWhole) = try read(wanted, after: position, view)
      let known = changes.prefix { $0.sequence <= end }
      guard let seen = try append(known, documents, info, view) else { return .spent }
      position = seen.last?.sequence ?? position
      let reachesEnd =
        isWhole && changes.count < wanted || (changes.last?.sequence ?? end) >= end
      isAtEnd = seen.count == known.count && reachesEnd
      isOver = isDone || isCut
      if !isAtEnd, !isOver, Slice.isOver { return nil }
    }
    // Numbers behind the last change are of documents that were purged.
    if isAtEnd { position = max(position, end) }
    let isComplete = isAtEnd || rows.count == query.limit
    return .page(
      ChangesPage(
        rows: rows, last: .at(position, in: info, of: tag),
        pending: try pending(after: position, isExact: isComplete, info, view),
        isComplete: isComplete, isRewound: start.isRewound, end: end))
  }

  /// The next changes; where each makes a row with its document, with the documents, as many as a page takes.
  /// - Returns: besides, whether none was left out because there were enough bytes.
  private func read(
    _ wanted: Int, after position: Int64, _ view: any StoreView
  ) throws -> (changes: [Change], documents: [Document], isWhole: Bool) {
    guard query.includesDocuments, case .everything = query.filter else {
      return (try view.changes(after: position, limit: wanted), [], true)
    }
    var documents: [Document] = []
    var rest = CouchLimits.pageBytes - bytes
    try view.changedDocuments(after: position, limit: wanted) { document in
      documents.append(document)
      rest -= document.body.count
      return rest > 0 && !Slice.isOver
    }
    return (documents.map(\.change), documents, rest > 0 && !Slice.isOver)
  }

  /// The rows before the query's place, newest first.
  private mutating func descend(_ view: any StoreView) throws -> Outcome? {
    let info = try begun(view)
    var isAtEnd = false
    var isOver = query.limit == 0
    while !isAtEnd, !isOver {
      let wanted = batch
      let changes = try view.changes(upTo: position, limit: wanted)
      guard let seen = try append(changes[...], [], info, view) else { return .spent }
      last = seen.last?.sequence ?? last
      position = seen.last.map { $0.sequence - 1 } ?? position
      isAtEnd = seen.count == changes.count && changes.count < wanted
      isOver = isDone || isCut
      if !isAtEnd, !isOver, Slice.isOver { return nil }
    }
    return .page(
      ChangesPage(
        rows: rows, last: .at(last ?? position, in: info, of: tag), pending: 0,
        isComplete: isAtEnd || rows.count == query.limit, isRewound: false, end: position))
  }

  /// How many changes to read next: where each makes a row, no more than rows are wanted.
  private var batch: Int {
    guard case .everything = query.filter else { return longestBatch }
    return min(longestBatch, (query.limit ?? .max) - rows.count)
  }

  /// Appends the rows of changes until the page is done or the slice over.
  /// - Parameter documents: those of the changes, in the same order, or none.
  /// - Returns: the changes that were looked at; nil when a selector takes too long on the page's first.
  private mutating func append(
    _ changes: ArraySlice<Change>, _ documents: [Document], _ info: StoreInfo,
    _ view: any StoreView
  ) throws -> ArraySlice<Change>? {
    var count = 0
    for change in changes where !isDone {
      switch try matcher.match(change, in: view) {
      case .named(let revisions, let tree):
        guard !revisions.isEmpty else { break }
        let document = documents.isEmpty ? nil : documents[count]
        try append(change, document, revisions, tree, info, view)
      case .spent:
        isCut = true
        return scanned == 0 ? nil : changes.prefix(count)
      case .unfinished: return changes.prefix(count)
      }
      count += 1
      scanned += 1
      if Slice.isOver { break }
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
  private func pending(
    after position: Int64, isExact: Bool, _ info: StoreInfo, _ view: any StoreView
  ) throws -> Int {
    if isExact { return Int(clamping: try view.changeCount(after: position)) }
    let numbers = info.lastSequence.subtractingReportingOverflow(position).partialValue
    return Int(clamping: max(0, min(numbers, info.documentCount &+ info.deletedCount)))
  }

  private mutating func append(
    _ change: Change, _ document: Document?, _ revisions: [RevisionID], _ tree: RevisionTree?,
    _ info: StoreInfo, _ view: any StoreView
  ) throws {
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
    if query.includesDocuments, let document = try document ?? view.document(change.id) {
      writer.name("doc")
      let reader = try DocumentReader(document, tree: tree, in: view, extras: query.extras)
      writer.raw(try reader.winning())
    }
    writer.endObject()
    bytes += writer.bytes.count
    rows.append(writer.bytes)
  }
}

extension Document {
  /// The document's row among the changes.
  fileprivate var change: Change {
    Change(sequence: sequence, id: id, revision: revision, isDeleted: isDeleted)
  }
}

/// Some rows of `_changes`, each one JSON object, and where to go on.
package struct ChangesPage: Sendable {
  /// Rows in the query's order.
  package let rows: [[UInt8]]
  /// The place after the last change that was looked at, which may be behind the last row's.
  package let last: SinceToken
  /// How many changes come after it at most; 0 only when there is none. Exact as far as the counts that
  /// stores keep tell: changes that a later change of the same document has replaced may count.
  package let pending: Int
  /// Whether nothing is left of what was asked for: the feed's end or the limit has been reached.
  package let isComplete: Bool
  /// Whether the answer starts over because the token was not of this store; see ``SinceToken``.
  package let isRewound: Bool
  /// The last change that belongs to the answer.
  let end: Int64

  /// What stands before the rows of a normal answer.
  package static let opening = Array(#"{"results":["#.utf8) + [0x0A]
  /// What stands between two rows of a normal answer.
  package static let separator = Array(",\n".utf8)

  /// What stands behind the rows of a normal answer, after its last page.
  package var closing: [UInt8] {
    var writer = JSONWriter(appendingTo: Array("\n],\n".utf8))
    appendMembers(to: &writer)
    return writer.bytes + Array("}\n".utf8)
  }

  /// The last line of a continuous feed that ends.
  package var lastLine: [UInt8] {
    var writer = JSONWriter(reserving: 96)
    writer.beginObject()
    appendMembers(to: &writer)
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  private func appendMembers(to writer: inout JSONWriter) {
    writer.member("last_seq", last.text)
    writer.member("pending", pending)
  }

  /// The whole answer where this page is all of it.
  package var answer: CouchAnswer {
    var bytes = Self.opening
    for (index, row) in rows.enumerated() {
      if index > 0 { bytes += Self.separator }
      bytes += row
    }
    return CouchAnswer(bytes + closing)
  }
}

extension CouchDatabase {
  /// `GET` and `POST /{db}/_changes`: documents in the order of their last changes, each once, one page of
  /// them.
  ///
  /// An answer is all its pages: write ``ChangesPage/opening``, the rows, and while a page is not complete
  /// those of ``ChangesQuery/after(_:)``, then ``ChangesPage/closing``. A feed that waits asks again, after
  /// each commit, with ``ChangesQuery/later(than:)``.
  ///
  /// A document that changes between two pages can come twice, the second time at its new number.
  /// Source: CouchDB, "GET /{db}/_changes".
  /// - Throws: 400 for the token of another database, and for a selector that takes too long on one
  ///   document; for a filter of a design document 404 where there is none, and 501.
  package func changes(_ query: ChangesQuery) async throws -> ChangesPage {
    let tag = tag
    try query.since.check(isOf: tag)
    if case .function(let function) = query.filter { try await run(function) }
    let outcome = try await store.read(inSlices: ChangesReader(query, of: tag)) {
      reader, view in try reader.read(view)
    }
    switch outcome {
    case .page(let page): return page
    case .spent: throw SelectorBudget.spent
    }
  }

  /// What names the database in ``SinceToken``.
  var tag: StoreTag { StoreTag(store.name) }

  /// Wakes a feed after each commit; the first wake-up comes at once.
  package func wakeUps() -> AsyncStream<Void> { store.wakeUps() }
}
