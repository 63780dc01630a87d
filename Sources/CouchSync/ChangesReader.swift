import CouchQuery
import Documents
import Scheduling
import Stores

/// Reads a page of `_changes` in slices, each from one snapshot of the store.
struct ChangesReader: Sendable {
  /// The least and the most changes that are read from the store at once.
  private static let batches = 16...500

  private let query: ChangesQuery
  private let tag: StoreTag
  private var matcher: ChangesMatcher
  private var rows: ChangesRows
  private var scanned = 0
  /// Whether the selector had no time left for the next change.
  private var isCut = false
  /// The store's information when the page began; nil before.
  private var info: StoreInfo?
  /// The part of each row's token that follows the sequence.
  private var tokenSuffix: [UInt8] = []
  /// The position from which the next changes are read.
  private var position: Int64 = 0
  /// The sequence of the last change that was examined in a descending query.
  private var last: Int64?
  /// How many changes a slice can probably examine.
  private var longestBatch = Self.batches.upperBound

  init(_ query: ChangesQuery, of tag: StoreTag) {
    self.query = query
    self.tag = tag
    rows = ChangesRows(in: query.frame)
    matcher = ChangesMatcher(query)
  }

  /// The result: a page, or `spent` when the selector takes too long on the page's first document. When it takes too
  /// long on a later document, the page ends before that document.
  enum Outcome: Sendable {
    case page(ChangesPage)
    case spent
  }

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: the page, once it is complete.
  mutating func read(_ view: any StoreView) throws -> Outcome? {
    let seen = scanned
    let outcome = query.descending ? try descend(view) : try ascend(view)
    if outcome == nil {
      // The next slice reads again the changes that this slice read but did not examine.
      longestBatch = min(
        max(2 * (scanned - seen), Self.batches.lowerBound), Self.batches.upperBound)
    }
    return outcome
  }

  /// The store's information when the page began: that of this snapshot in the first slice.
  private mutating func begin(_ view: any StoreView) throws -> StoreInfo {
    if let info { return info }
    let first = try view.info()
    info = first
    tokenSuffix = SinceToken.suffix(of: tag, in: first)
    position =
      query.descending
      ? query.end ?? first.lastSequence : query.since.position(in: first, of: tag).sequence
    return first
  }

  /// Reads the changes after the query's position, oldest first.
  private mutating func ascend(_ view: any StoreView) throws -> Outcome? {
    let info = try begin(view)
    let start = query.since.position(in: info, of: tag)
    // A server that took over may lack the last changes that an earlier page of this answer has counted on.
    let end = min(query.end ?? .max, info.lastSequence)
    var isAtEnd = false
    var isOver = query.limit == 0
    while !isAtEnd, !isOver {
      let wanted = batch
      let (changes, documents, isWhole) = try read(wanted, after: position, view)
      let known = changes.prefix { $0.sequence <= end }
      guard let seen = try append(known, documents, view) else { return .spent }
      position = seen.last?.sequence ?? position
      let reachesEnd = isWhole && changes.count < wanted || (changes.last?.sequence ?? end) >= end
      isAtEnd = seen.count == known.count && reachesEnd
      isOver = isDone || isCut
      if !isAtEnd, !isOver, view.slice.isOver { return nil }
    }
    // Later sequences up to `end` belong to documents that were purged.
    if isAtEnd { position = max(position, end) }
    let isComplete = isAtEnd || rows.count == query.limit
    return .page(
      ChangesPage(
        rows: rows, last: .at(position, in: info, of: tag),
        pending: try pending(after: position, isExact: isComplete, info, view),
        isComplete: isComplete, isRewound: start.isRewound, end: end))
  }

  /// The next changes. When every change makes a row with its document, also the documents, as many as fit into the
  /// page.
  /// - Returns: also whether no change was left out because of the page's size or the slice.
  private func read(
    _ wanted: Int, after position: Int64, _ view: any StoreView
  ) throws -> (changes: [Change], documents: [Document], isWhole: Bool) {
    guard query.includesDocuments, case .everything = query.filter else {
      return (try view.changes(after: position, limit: wanted), [], true)
    }
    var documents: [Document] = []
    var rest = CouchLimits.pageBytes - rows.byteCount
    try view.changedDocuments(after: position, limit: wanted) { document in
      documents.append(document)
      rest -= document.body.count
      return rest > 0 && !view.slice.isOver
    }
    return (documents.map(\.change), documents, rest > 0 && !view.slice.isOver)
  }

  /// Reads the changes before the query's position, newest first.
  private mutating func descend(_ view: any StoreView) throws -> Outcome? {
    let info = try begin(view)
    var isAtEnd = false
    var isOver = query.limit == 0
    while !isAtEnd, !isOver {
      let wanted = batch
      let changes = try view.changes(upTo: position, limit: wanted)
      guard let seen = try append(changes[...], [], view) else { return .spent }
      last = seen.last?.sequence ?? last
      position = seen.last.map { $0.sequence - 1 } ?? position
      isAtEnd = seen.count == changes.count && changes.count < wanted
      isOver = isDone || isCut
      if !isAtEnd, !isOver, view.slice.isOver { return nil }
    }
    let isComplete = isAtEnd || rows.count == query.limit
    return .page(
      ChangesPage(
        rows: rows, last: .at(last ?? position, in: info, of: tag),
        pending: isAtEnd ? 0 : try pending(upTo: position, isExact: isComplete, view),
        isComplete: isComplete,
        isRewound: query.end != nil && query.since.position(in: info, of: tag).isRewound,
        end: position))
  }

  /// How many changes to read next. Without a filter no more than the rows that are still wanted.
  private var batch: Int {
    guard case .everything = query.filter else { return longestBatch }
    return min(longestBatch, (query.limit ?? .max) - rows.count)
  }

  /// Appends the rows of changes until the page is full or the slice is over.
  /// - Parameter documents: the documents of the changes, in the same order, or none.
  /// - Returns: the changes that were examined; nil when the selector takes too long on the page's first change.
  private mutating func append(
    _ changes: ArraySlice<Change>, _ documents: [Document], _ view: any StoreView
  ) throws -> ArraySlice<Change>? {
    var count = 0
    for change in changes where !isDone {
      switch try matcher.match(change, in: view) {
      case .named(let revisions, let tree):
        guard !revisions.isEmpty else { break }
        let document = documents.isEmpty ? nil : documents[count]
        try append(change, document, revisions, tree, view)
      case .spent:
        isCut = true
        return scanned == 0 ? nil : changes.prefix(count)
      case .unfinished: return changes.prefix(count)
      }
      count += 1
      scanned += 1
      if view.slice.isOver { break }
    }
    return changes.prefix(count)
  }

  /// Whether the page is full, or has cost as much as it may.
  private var isDone: Bool {
    isCut || rows.count == query.limit || rows.count >= CouchLimits.pageRows
      || rows.byteCount >= CouchLimits.pageBytes || scanned >= CouchLimits.pageScan
      || matcher.bytes >= CouchLimits.pageScanBytes
  }

  /// How many changes follow a sequence, whether the filter wants them or not, as in CouchDB. Counting takes time, so a
  /// page that is not the last one gets an upper bound instead. Every document has one row, at its last change, so
  /// there are at most as many rows left as sequences, and at most as many as documents.
  private func pending(
    after position: Int64, isExact: Bool, _ info: StoreInfo, _ view: any StoreView
  ) throws -> Int {
    if isExact { return Int(clamping: try view.changeCount(after: position)) }
    let numbers = info.lastSequence.subtractingReportingOverflow(position).partialValue
    return Int(clamping: max(0, min(numbers, info.documentCount &+ info.deletedCount)))
  }

  /// The same for the changes up to a sequence, which follow in a descending query.
  private func pending(upTo position: Int64, isExact: Bool, _ view: any StoreView) throws -> Int {
    let all = try view.changeCount(after: 0)
    guard isExact else { return Int(clamping: all) }
    return Int(clamping: max(0, all &- (try view.changeCount(after: position))))
  }

  private mutating func append(
    _ change: Change, _ document: Document?, _ revisions: [RevisionID], _ tree: RevisionTree?,
    _ view: any StoreView
  ) throws {
    let (query, tokenSuffix) = (query, tokenSuffix)
    try rows.append { bytes in
      bytes += String(change.sequence).utf8
      bytes += tokenSuffix
    } _: { writer in
      writer.member("id", change.id.text)
      writer.objects("changes", of: revisions) { revision, writer in
        writer.name("rev")
        writer.revision(revision)
      }
      if change.isDeleted { writer.member("deleted", true) }
      if query.includesDocuments, let document = try document ?? view.document(change.id) {
        writer.name("doc")
        try DocumentReader(document, tree: tree, in: view, extras: query.extras)
          .appendWinner(to: &writer, in: view)
      }
    }
  }
}

extension Document {
  /// The document's last change, as in the change feed.
  fileprivate var change: Change {
    Change(sequence: sequence, id: id, revision: revision, isDeleted: isDeleted)
  }
}

extension CouchDatabase {
  /// `GET` and `POST /{db}/_changes`: one page of the documents in the order of their last changes, each document once.
  ///
  /// An answer consists of all its pages. Write ``ChangesPage/opening``, then the rows of this page and, while a page
  /// is not complete, those of ``ChangesQuery/after(_:)``, then ``ChangesPage/closing``. A feed that waits for changes
  /// asks again after each commit, with ``ChangesQuery/later(than:)``.
  ///
  /// A document that changes between two pages can occur twice, the second time with its new sequence.
  /// Source: CouchDB, "GET /{db}/_changes".
  /// - Throws: 400 for a selector that takes too long on one document; for a filter of a design document 404 when the
  ///   filter does not exist, otherwise 501.
  package func changes(_ query: ChangesQuery) async throws -> ChangesPage {
    if case .function(let function) = query.filter { try await run(function) }
    let outcome = try await store.read(inSlices: ChangesReader(query, of: tag)) {
      reader, view in try reader.read(view)
    }
    switch outcome {
    case .page(let page): return page
    case .spent: throw SelectorBudget.spent
    }
  }

  /// The database's identifier in ``SinceToken``.
  package var tag: StoreTag { StoreTag(store.name) }
}
