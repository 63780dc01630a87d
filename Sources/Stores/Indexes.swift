package import Documents

/// The name of an index. It is made from the index's definition, so that another definition is another index.
package struct IndexID: ByteString {
  /// The name; 1 to 128 bytes.
  package let text: String

  package init(_ text: String) { self.text = text }
}

package struct IndexEntry: Sendable, Equatable {
  package let id: DocumentID
  /// The key by which the index is sorted, compared by bytes. Only the rule knows its meaning.
  package let key: [UInt8]
  /// What the index stores of the document, so that the document need not be read; nil when it stores
  /// nothing, or when the reader does not want it. Only the rule knows its meaning.
  package let content: [UInt8]?

  package init(id: DocumentID, key: [UInt8], content: [UInt8]? = nil) {
    self.id = id
    self.key = key
    self.content = content
  }
}

package struct IndexRange: Sendable, Equatable {
  /// The first key of the range, included; empty for no bound.
  package var start: [UInt8]
  /// The upper end of the range, not included; nil for no bound.
  package var end: [UInt8]?
  /// Whether to read from the upper end down.
  package var descending: Bool
  /// The id at which a listing continues; empty for none. Upwards, entries with the key ``start`` are left
  /// out unless their id is greater. Downwards, entries with the key ``end`` are included if their id is
  /// lower.
  package var id: String
  /// Whether to read the entries' ``IndexEntry/content``. It is then also checked.
  package var wantsContent: Bool

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

/// A change of an index. An index holds nothing that is not in the documents: one that is lost or not up to
/// date is built again from the change feed, and no write of a document waits for an index.
package enum IndexEdit: Sendable {
  /// Creates the index if it is absent, removes all entries of `documents`, adds `entries` (at most one for
  /// each document, all of `documents`), and sets the index's sequence number to `sequence`.
  case advance(IndexID, documents: [DocumentID], entries: [IndexEntry], sequence: Int64)
  /// Removes at most this many entries of an index, and with its last entry the index. An index of which
  /// entries remain counts as not built.
  case remove(IndexID, entries: Int)
}
