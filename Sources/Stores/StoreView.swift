package import Documents

/// What a rule or a query sees of one store: one state, on the engine's own executor, without
/// waiting.
///
/// Inside an update the view shows what earlier updates of the same commit wrote.
package protocol StoreView {
  /// The winner, a tombstone included; nil when the id was never used. One indexed read.
  func document(_ id: DocumentID) throws -> Document?
  /// The whole history.
  func tree(_ id: DocumentID) throws -> RevisionTree?
  /// The history without revisions that an engine keeps apart (``HistoryPiece``): for who asks of leaves or edits them,
  /// whatever the history's length.
  func newest(_ id: DocumentID) throws -> RevisionTree?
  /// What a revision says; nil when the revision is unknown or its body was compacted away.
  func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]?
  /// The same for who has the document's tree of this state at hand, which is not read again then.
  func body(
    _ id: DocumentID, of node: RevisionTree.Node, in tree: RevisionTree
  ) throws -> [UInt8]?
  /// What is known of a revision whose body is kept; nil when it is unknown or its body was compacted away. Reads no
  /// body.
  func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision?
  /// Winners by id in byte order, tombstones included where asked, until `visit` answers false.
  func documents(
    _ range: DocumentRange, _ visit: (Document) throws -> Bool
  ) throws
  /// Documents that changed after a sequence number, each once, at its last change, in order.
  /// - Parameter limit: how many rows at most.
  func changes(after sequence: Int64, limit: Int) throws -> [Change]
  /// The documents that ``changes(after:limit:)`` names, tombstones included, in its order until `visit` answers false.
  func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws
  /// The changes of live documents whose body's `type` is this.
  func changes(
    ofType type: String, after sequence: Int64, limit: Int
  ) throws -> [Change]
  /// Documents that changed up to a sequence number, that one included, each once, at its last change,
  /// newest first.
  /// - Parameter limit: how many rows at most.
  func changes(upTo sequence: Int64, limit: Int) throws -> [Change]
  /// How many rows ``changes(after:limit:)`` has behind a sequence number. Counts them: not for every
  /// page of a walk.
  func changeCount(after sequence: Int64) throws -> Int64
  /// How many winners are among the first so many ids of a range, in its direction, tombstones included where
  /// asked. Counts them, without their bodies.
  /// - Returns: besides, the last of those ids, if there are so many; nil when the range has no more.
  func count(
    _ range: DocumentRange, among ids: Int
  ) throws -> (count: Int, last: DocumentID?)
  /// A local document; nil when absent (or expired).
  func local(_ id: LocalID) throws -> LocalDocument?
  /// Local documents by id in byte order, or downwards, until `visit` answers false. Expired ones are
  /// left out.
  func locals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument) throws -> Bool
  ) throws
  /// Local documents whose ids start so (``LocalID/clientPrefix``, ``LocalID/answerPrefix``) and that have not expired:
  /// how many, and the bytes of their bodies. Counts them.
  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64)
  /// Local documents whose time is over at a moment and that are still kept, in no order.
  /// - Parameter limit: how many at most.
  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID]
  /// How far an index has been built, as a sequence number; nil for an index that is not there, or not whole any
  /// more.
  func indexedSequence(_ index: IndexID) throws -> Int64?
  /// The indexes that are there, in byte order.
  func indexes() throws -> [IndexID]
  /// Entries of an index by key in byte order (by id in byte order where keys are equal), or downwards in
  /// both, until `visit` answers false. None for an index that is not there.
  func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws
  /// Bytes that the store takes on the disk, beside its log; 0 for one without a file.
  func fileBytes() throws -> Int64
  /// Whether all that the store holds, histories, tombstones and indexes included but for its file's free room,
  /// takes more bytes than that. Inside an update a file that was short enough when the commit began still is.
  func holds(moreThan bytes: Int64) throws -> Bool
  /// Bytes of all bodies that are kept of a document, the winner's included; 0 for an id that was never used.
  func storedBytes(of id: DocumentID) throws -> Int64
  /// Counts and the last sequence number.
  func info() throws -> StoreInfo
}

extension StoreView {
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

  /// The ids of live documents whose body's `type` is this, in byte order: for types of which there are few, or
  /// where nobody waits.
  package func ids(ofType type: String) throws -> [DocumentID] {
    var (ids, last): ([DocumentID], Int64) = ([], 0)
    while true {
      let page = try changes(ofType: type, after: last, limit: 1_000)
      guard let reached = page.last?.sequence else { return ids.sorted() }
      ids += page.map(\.id)
      last = reached
    }
  }
}

/// Which ids to walk, in byte order.
package struct DocumentRange: Sendable {
  /// The first id wanted, compared by bytes; nil from the very first. Any text, legal id or not.
  package var start: String?
  /// The last id wanted; nil to the very last.
  package var end: String?
  /// Whether a document whose id equals ``end`` is wanted.
  package var includesEnd: Bool
  /// Whether to walk from ``end`` down to ``start``.
  package var descending: Bool
  /// Whether tombstones are wanted.
  package var includesDeleted: Bool

  /// A range of ids.
  package init(
    start: String? = nil, end: String? = nil, includesEnd: Bool = true, descending: Bool = false,
    includesDeleted: Bool = false
  ) {
    self.start = start
    self.end = end
    self.includesEnd = includesEnd
    self.descending = descending
    self.includesDeleted = includesDeleted
  }

  /// What is left of the range, in its direction, behind an id.
  package func behind(_ id: String) -> DocumentRange {
    var rest = self
    if descending {
      (rest.end, rest.includesEnd) = (id, false)
    } else {
      // The next text in the order of bytes.
      rest.start = id + "\0"
    }
    return rest
  }

  /// Whether an id lies within the range's ends.
  package func contains(_ id: String) -> Bool {
    if let start, id.precedesBytes(of: start) { return false }
    guard let end else { return true }
    return includesEnd ? !end.precedesBytes(of: id) : id.precedesBytes(of: end)
  }
}

/// One row of the change feed: a document at its last change.
package struct Change: Sendable, Equatable {
  /// The store's number of that change.
  package let sequence: Int64
  /// The document.
  package let id: DocumentID
  /// The winner after it.
  package let revision: RevisionID
  /// Whether the winner is a tombstone.
  package let isDeleted: Bool

  /// A row.
  package init(sequence: Int64, id: DocumentID, revision: RevisionID, isDeleted: Bool) {
    self.sequence = sequence
    self.id = id
    self.revision = revision
    self.isDeleted = isDeleted
  }
}

/// A local document: a body with a plain counter as its revision (`0-N` for clients).
package struct LocalDocument: Sendable, Equatable {
  /// How often it was written, from 1.
  package let revision: Int64
  /// Its bytes; JSON for clients' documents.
  package let body: [UInt8]

  /// A local document as read.
  package init(revision: Int64, body: [UInt8]) {
    self.revision = revision
    self.body = body
  }
}

/// Counts of one store.
package struct StoreInfo: Sendable, Equatable {
  /// Documents whose winner is live.
  package var documentCount: Int64
  /// Documents whose winner is a tombstone.
  package var deletedCount: Int64
  /// The number of the last change, 0 for none.
  package var lastSequence: Int64
  /// Bytes of the winners' bodies.
  package var bodyBytes: Int64
  /// Bytes of the other bodies: those of losing leaves and of ancestors that are kept for history.
  package var keptBytes: Int64
  /// Drawn at random when the store was made (32 hex digits): tells this store from an earlier one
  /// of the same name, so that a reader's old sequence numbers are not mistaken for this store's.
  package var epoch: String

  /// Counts as read.
  package init(
    documentCount: Int64, deletedCount: Int64, lastSequence: Int64, bodyBytes: Int64,
    keptBytes: Int64 = 0, epoch: String
  ) {
    self.documentCount = documentCount
    self.deletedCount = deletedCount
    self.lastSequence = lastSequence
    self.bodyBytes = bodyBytes
    self.keptBytes = keptBytes
    self.epoch = epoch
  }

  /// Bytes of all bodies: what the quota counts.
  package var storedBytes: Int64 { bodyBytes + keptBytes }
}
