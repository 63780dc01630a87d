import Documents

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
