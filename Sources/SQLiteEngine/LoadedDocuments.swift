import Documents
import Stores

/// What an update finds of the documents that it may change: each is read once, for the rule, the quota and
/// the writer.
///
/// What was found holds until the update is written, because nothing else is written meanwhile and a
/// rule changes each document once. Confined, as the rows are, to the actor that owns them.
final class LoadedDocuments {
  /// A document with all that stands in its row.
  final class Found {
    /// The columns before body and tree.
    let row: StoredDocument
    /// The winner's body, not verified, as it would stand beside another winner's.
    let content: StoreRows.StoredBody
    /// The winner's body, not verified.
    var body: [UInt8] { content.bytes }
    /// Empty where the tree is known.
    private let encodedTree: [UInt8]
    private var decodedTree: RevisionTree?

    /// A document as it was read.
    /// - Parameter encodedTree: not looked at where there is one revision only.
    init(row: StoredDocument, body: StoreRows.StoredBody, encodedTree: [UInt8]) {
      self.row = row
      content = body
      self.encodedTree = encodedTree
    }

    /// A document as it was written.
    init(row: StoredDocument, body: StoreRows.StoredBody, tree: RevisionTree) {
      self.row = row
      content = body
      encodedTree = []
      decodedTree = tree
    }

    /// The history.
    /// - Throws: `integrity` when it is not what was written.
    func tree() throws -> RevisionTree {
      if let decodedTree { return decodedTree }
      let tree = try row.tree(encodedTree)
      decodedTree = tree
      return tree
    }
  }

  /// What is known of an id.
  enum Answer {
    /// The update may not change it: it is read like any other.
    case notLoaded
    /// It was never used.
    case absent
    /// The document.
    case found(Found)
  }

  private let rows: StoreRows
  private let ids: Set<DocumentID>
  private var known: [DocumentID: Found?]

  /// The documents of an update, none of them read yet.
  init(_ ids: Set<DocumentID>, in rows: StoreRows) {
    self.ids = ids
    self.rows = rows
    known = Dictionary(minimumCapacity: ids.count)
  }

  /// A document, if it is one of these.
  /// - Throws: `integrity` for columns that were not written so.
  func answer(for id: DocumentID) throws -> Answer {
    if let known = known[id] { return known.map { .found($0) } ?? .absent }
    guard ids.contains(id) else { return .notLoaded }
    let document = try rows.whole(id)
    known[id] = .some(document)
    return document.map { .found($0) } ?? .absent
  }

  /// The document that a rule changes; nil when the id was never used.
  /// - Throws: as ``answer(for:)`` does.
  func document(_ id: DocumentID) throws -> Found? {
    switch try answer(for: id) {
    case .found(let document): document
    case .absent: nil
    case .notLoaded: try rows.whole(id)
    }
  }
}

/// The documents that were written last and have a long history: what is edited again and again, as a user's list of
/// bookmarks is, need not be read, checked and decoded from the file each time.
///
/// They are what the one writer has put there, also in an open transaction; who undoes that forgets them.
struct RecentDocuments {
  /// How many are kept: the list, and the hotel that was bookmarked with it.
  private static let maximum = 2
  /// How many revisions a document has that is kept: of fewer it is read as fast, and a node takes some 50 bytes.
  private static let revisions = 16...1_024
  /// Bytes of a body above which a document is not kept.
  private static let largestBody = 64 << 10

  /// The one that was written last stands last.
  private var documents: [LoadedDocuments.Found] = []

  /// A document, if it is one of these.
  subscript(id: DocumentID) -> LoadedDocuments.Found? {
    documents.last { $0.row.id == id }
  }

  /// A document is now this one.
  mutating func replace(_ document: LoadedDocuments.Found, revisions: Int) {
    forget(document.row.id)
    guard Self.revisions.contains(revisions), document.body.count <= Self.largestBody else {
      return
    }
    if documents.count == Self.maximum { documents.removeFirst() }
    documents.append(document)
  }

  /// A document is gone, or another.
  mutating func forget(_ id: DocumentID) {
    documents.removeAll { $0.row.id == id }
  }
}
