package import Documents

/// The name of an index: what it is made of, so that another definition is another index.
package struct IndexID: ByteString {
  /// The name; 1 to 128 bytes.
  package let text: String

  /// An index of this name.
  package init(_ text: String) { self.text = text }
}

/// A document's place in an index, and what the index keeps of it.
package struct IndexEntry: Sendable, Equatable {
  /// The document.
  package let id: DocumentID
  /// What the index sorts by, compared by bytes. What it means is the rule's affair.
  package let key: [UInt8]
  /// What the index keeps of the document, so that it need not be read; nil where it keeps nothing, and where a walk
  /// doesn't want it. What it means is the rule's affair.
  package let content: [UInt8]?

  /// A document's place.
  package init(id: DocumentID, key: [UInt8], content: [UInt8]? = nil) {
    self.id = id
    self.key = key
    self.content = content
  }
}

/// Which keys of an index to walk.
package struct IndexRange: Sendable, Equatable {
  /// The least key wanted, that one included; empty from the first.
  package var start: [UInt8]
  /// The key that ends the range, that one left out; nil to the last.
  package var end: [UInt8]?
  /// Whether to walk from the end down.
  package var descending: Bool
  /// Where a walk goes on: upwards, entries at ``start`` whose id is not behind this one are left out; downwards,
  /// those at ``end`` whose id is before this one are wanted too. Empty for neither.
  package var id: String
  /// Whether entries come with their ``IndexEntry/content``, which is checked then.
  package var wantsContent: Bool

  /// A range of keys.
  package init(
    start: [UInt8] = [], end: [UInt8]? = nil, descending: Bool = false, id: String = "",
    wantsContent: Bool = false
  ) {
    self.start = start
    self.end = end
    self.descending = descending
    self.id = id
    self.wantsContent = wantsContent
  }
}

/// What a rule writes into an index. Indexes hold nothing that documents don't say: one that is lost or
/// behind is built again from the change feed, and no write of a document waits for one.
package enum IndexEdit: Sendable {
  /// Makes the index if it is absent, forgets every entry of `documents`, adds `entries` (at most one a
  /// document, each of `documents`), and says that the index has seen every change up to `sequence`.
  case advance(
    IndexID, documents: [DocumentID], entries: [IndexEntry], sequence: Int64)
  /// Removes so many of an index's entries at most, and with its last one the index. One of which entries are left
  /// has been built up to nowhere.
  case remove(IndexID, entries: Int)
}
