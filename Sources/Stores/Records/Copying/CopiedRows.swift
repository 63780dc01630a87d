package import Documents

/// A document's row on its way from one engine to another. It has values only, in no engine's layout.
package struct CopiedDocument: Sendable {
  /// The columns. The checksum of the tree is missing, because each engine encodes the tree in its own way.
  package let row: StoredDocument
  /// The complete history, including the revisions that an engine stores in pieces.
  package let tree: RevisionTree
  /// The winner's body.
  package let body: StoredBody

  package init(row: StoredDocument, tree: RevisionTree, body: StoredBody) {
    self.row = row
    self.tree = tree
    self.body = body
  }

  /// The document's columns and its encoded tree, as an engine writes them.
  /// - Parameter newest: the history without the revisions that the engine stores in pieces.
  package func encoded(with newest: RevisionTree) -> (row: StoredDocument, tree: [UInt8]?) {
    let tree = newest.isMoreThanOneRevision ? newest.encoded : nil
    var row = row
    row.treeChecksum = tree.map { Checksum.tree(row.id, row.revision, $0).value }
    return (row, tree)
  }
}

/// The body of a revision that is not a document's winner, on its way from one engine to another.
package struct CopiedBody: Sendable {
  /// The sequence number of the document's first change, which identifies the document.
  package let first: Int64
  package let revision: RevisionID
  package let body: StoredBody

  package init(first: Int64, revision: RevisionID, body: StoredBody) {
    self.first = first
    self.revision = revision
    self.body = body
  }
}

/// A local document on its way from one engine to another.
package struct CopiedLocal: Sendable {
  package let id: LocalID
  package let document: LocalDocument
  /// When the document expires, in milliseconds since 1970; nil when it never expires. It may be in the past.
  package let expires: Int64?

  package init(id: LocalID, document: LocalDocument, expires: Int64?) {
    self.id = id
    self.document = document
    self.expires = expires
  }

  /// The document as an engine writes it.
  package var edit: LocalEdit {
    LocalEdit(id, document, expires: expires.map { Timestamp(milliseconds: $0) })
  }
}

/// Some rows of one kind. A reader returns about ``rows`` rows and ``bytes`` bytes at a time, so that a copy needs little
/// memory whatever the size of the store.
package enum RowPage: Sendable {
  /// Documents, in the order of their last change.
  case documents([CopiedDocument])
  /// Bodies of documents that came before, by document and then by revision.
  case bodies([CopiedBody])
  /// Local documents, in byte order of their ids.
  case locals([CopiedLocal])

  /// The most rows of a page.
  package static let rows = 256
  /// The bytes after which a page gets no further row: 4 MiB.
  package static let bytes = 4 << 20
}

/// What a reader knows of a store at one moment.
package struct CopiedState: Sendable, Equatable {
  /// The store's name, epoch and counts.
  package var header: StoreHeader
  /// A number that changes with every write, if the engine has one. Some writes change no count.
  package var mark: Int64

  package init(header: StoreHeader, mark: Int64 = 0) {
    self.header = header
    self.mark = mark
  }
}

/// The position of a body in the order in which bodies are read: by document, then by generation, then by digest.
package struct BodyKey: Sendable {
  /// The sequence number of the document's first change.
  package let first: Int64
  package let revision: RevisionID

  package init(_ body: CopiedBody) {
    first = body.first
    revision = body.revision
  }
}
