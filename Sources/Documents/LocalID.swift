/// The id of a local document: kept with the store, never replicated, in no feed.
///
/// Clients' ids start with `_local/`; the service keeps its own receipts under ``receiptPrefix``,
/// which no client can name.
package struct LocalID: ByteString {
  /// What clients' local ids start with.
  package static let clientPrefix = "_local/"
  /// What the service's own notes (idempotency keys, finished merges) start with.
  package static let receiptPrefix = "receipt/"
  /// What the receipts of batches with an idempotency key start with.
  package static let batchPrefix = "receipt/batch/"

  /// The id with its prefix.
  package let text: String

  /// A client's local id, with its `_local/` prefix.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(client text: String) throws(DocumentError) {
    let prefix = Self.clientPrefix.utf8
    let bytes = text.utf8
    guard bytes.starts(with: prefix), bytes.count > prefix.count else {
      throw DocumentError(.invalidID, "Illegal document id `_local/`")
    }
    guard bytes.count <= DocumentID.maximumBytes, !bytes.contains(0) else {
      throw DocumentError(
        .invalidID, "Local ids have at most \(DocumentID.maximumBytes) bytes and no NUL")
    }
    self.text = text
  }

  /// The id of a batch's receipt.
  package init(batch name: String) { text = Self.batchPrefix + name }

  /// The id of one of the service's own notes.
  package init(receipt name: String) { text = Self.receiptPrefix + name }

  /// An id that was checked when it was stored.
  package init(stored text: String) { self.text = text }
}
