package import Documents
package import Scheduling

/// One state of one store, as a rule or a query reads it.
///
/// Calls run on the thread of the read or update, and end with it. Inside an update the view also shows what earlier
/// updates of the same commit wrote.
package protocol StoreView {
  /// The time that this read may still take. A loop whose length a client decides asks it in each iteration.
  var slice: Slice { get }
  /// The winner, which may be a tombstone; nil when the id was never used. One indexed read.
  func document(_ id: DocumentID) throws -> Document?
  /// The complete revision tree of a document; nil when the id was never used.
  func tree(_ id: DocumentID) throws -> RevisionTree?
  /// The revision tree without the old revisions that an engine stores separately (``HistoryPiece``). It is
  /// enough to read or edit leaves, whatever the length of the history.
  func newest(_ id: DocumentID) throws -> RevisionTree?
  /// The body of a revision; nil when the revision is unknown or its body was removed.
  func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]?
  /// The body of a revision whose tree, of this same state, the caller has already read. The tree is not read
  /// again.
  func body(_ id: DocumentID, of node: RevisionTree.Node, in tree: RevisionTree) throws -> [UInt8]?
  /// What is known of a revision whose body is kept; nil when the revision is unknown or its body was
  /// removed. The body itself is not read.
  func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision?
  /// Calls `visit` with the winners of a range, by id in byte order, until it returns false. Tombstones are
  /// included only if the range asks for them.
  func documents(_ range: DocumentRange, _ visit: (Document) throws -> Bool) throws
  /// The documents that changed after a sequence number, in the order of their last change. Each document
  /// occurs once.
  /// - Parameter limit: the highest number of rows.
  func changes(after sequence: Int64, limit: Int) throws -> [Change]
  /// Calls `visit` with the documents of ``changes(after:limit:)``, in the same order, tombstones included,
  /// until it returns false.
  func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws
  /// The changes of live documents whose body has this string as its member `type`.
  func changes(ofType type: String, after sequence: Int64, limit: Int) throws -> [Change]
  /// The documents whose last change has this sequence number or a lower one, newest first. Each document
  /// occurs once.
  /// - Parameter limit: the highest number of rows.
  func changes(upTo sequence: Int64, limit: Int) throws -> [Change]
  /// The number of rows that ``changes(after:limit:)`` has after a sequence number. The call counts them, so
  /// do not use it for every page of a listing.
  func changeCount(after sequence: Int64) throws -> Int64
  /// Counts the winners among the first `ids` ids of a range, in the range's direction, without reading
  /// bodies. Tombstones are counted only if the range asks for them.
  /// - Returns: the count, and the last of those ids; the id is nil when the range has fewer than `ids` ids.
  func count(_ range: DocumentRange, among ids: Int) throws -> (count: Int, last: DocumentID?)
  /// A local document; nil when it is absent or has expired.
  func local(_ id: LocalID) throws -> LocalDocument?
  /// Calls `visit` with the local documents of a range, by id in byte order, or in the reverse order, until
  /// it returns false. Expired documents are left out. A document that can't be read is nil.
  func allLocals(_ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool) throws
  /// Counts the local documents whose ids start with a prefix (``LocalID/clientPrefix``,
  /// ``LocalID/answerPrefix``), and the bytes of their bodies. Expired documents are left out.
  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64)
  /// The local documents that have expired at `moment` and are still stored, in no order.
  /// - Parameter limit: the highest number of ids.
  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID]
  /// The sequence number up to which an index is built; nil when the index is absent or no longer complete.
  func indexedSequence(_ index: IndexID) throws -> Int64?
  /// The existing indexes, in byte order.
  func indexes() throws -> [IndexID]
  /// Calls `visit` with the entries of an index, by key and then by id, both in byte order, or both in
  /// reverse order, until it returns false. An absent index has no entries.
  func entries(_ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool) throws
  /// The bytes that the store takes on the disk, without its log; 0 for a store without a file.
  func fileBytes() throws -> Int64
  /// Whether the store's content takes more than `bytes`. Histories, tombstones and indexes count; free pages
  /// in the file do not. Inside an update, a file that was small enough when the commit began still counts as
  /// small enough.
  func holds(moreThan bytes: Int64) throws -> Bool
  /// The bytes of all stored bodies of a document, the winner's included; 0 for an id that was never used.
  func storedBytes(of id: DocumentID) throws -> Int64
  /// Counts and the last sequence number.
  func info() throws -> StoreInfo
}

extension StoreView {
  /// Calls `visit` as ``allLocals(_:_:)`` does.
  /// - Throws: `integrity` for a document that can't be read.
  package func locals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument) throws -> Bool
  ) throws {
    try allLocals(range) { id, document in
      guard let document else {
        throw ServiceError(
          .integrity, "A stored value is damaged", detail: "a local document fails its checksum")
      }
      return try visit(id, document)
    }
  }

  /// What `read` makes of the local documents of a range, in their order: at most `limit` values.
  /// - Throws: `integrity` for a damaged one; the errors of `read`.
  package func localValues<Value>(
    _ range: DocumentRange, atMost limit: Int = .max,
    _ read: (LocalID, LocalDocument) throws -> Value?
  ) throws -> [Value] {
    var values: [Value] = []
    try locals(range) { id, document in
      if let value = try read(id, document) { values.append(value) }
      return values.count < limit
    }
    return values
  }

  /// What `read` makes of the ids of a range's local documents, also of damaged ones: at most `limit` values.
  package func localIDs<Value>(
    _ range: DocumentRange, atMost limit: Int = .max, _ read: (LocalID) throws -> Value?
  ) throws -> [Value] {
    var values: [Value] = []
    try allLocals(range) { id, _ in
      if let value = try read(id) { values.append(value) }
      return values.count < limit
    }
    return values
  }

  /// Reads the local documents of a range, and passes over those that can't be read, also if only `read` finds that: it
  /// throws `integrity` then.
  /// - Returns: what `read` has made of the others, except nil; and how many were passed over.
  package func readableLocals<Value>(
    _ range: DocumentRange, _ read: (LocalID, LocalDocument) throws -> Value?
  ) throws -> (values: [Value], unreadable: Int) {
    var (values, unreadable): ([Value], Int) = ([], 0)
    try allLocals(range) { id, document in
      let found = try unlessDamaged { try document.map { try read(id, $0) } }
      switch found {
      case .some(let value?): values.append(value)
      case .some(nil): break
      case nil: unreadable += 1
      }
      return true
    }
    return (values, unreadable)
  }

  package func newest(_ id: DocumentID) throws -> RevisionTree? { try tree(id) }

  package func body(
    _ id: DocumentID, of node: RevisionTree.Node, in tree: RevisionTree
  ) throws -> [UInt8]? { try body(id, node.revision) }

  package func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws {
    for change in try changes(after: sequence, limit: limit) {
      guard let document = try document(change.id), try visit(document) else { return }
    }
  }

  /// Visits the documents of a range until the slice is over, for reads in slices.
  /// - Parameter visit: returns false to end the walk.
  /// - Returns: the part of the range that follows; nil at the end.
  package func walk(
    _ range: DocumentRange?, _ visit: (Document) throws -> Bool
  ) throws -> DocumentRange? {
    guard let range else { return nil }
    var rest: DocumentRange?
    try documents(range) { document in
      guard try visit(document) else { return false }
      guard slice.isOver else { return true }
      rest = range.behind(document.id.text)
      return false
    }
    return rest
  }
}
