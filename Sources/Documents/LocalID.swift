/// The id of a local document: a document that is never replicated and is not in the change feed.
///
/// The ids of clients' documents start with `_local/`. The service's own notes are stored under
/// ``receiptPrefix``, which no client can name.
package struct LocalID: ByteString {
  /// The prefix of clients' local ids.
  package static let clientPrefix = "_local/"
  /// The prefix of the service's own notes, for example idempotency keys and finished merges.
  package static let receiptPrefix = "receipt/"
  /// The prefix of stored answers to clients' writes. The writer's id and a slash follow.
  package static let answerPrefix = "receipt/answer/"

  /// The id with its prefix.
  package let text: String

  /// Creates the id of a client's local document from a text with the prefix `_local/`.
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

  /// Creates the id of a stored answer.
  /// - Parameter owner: the id of the writer.
  /// - Parameter token: identifies the answer among those of its owner.
  package init(answer token: String, to owner: String) {
    text = Self.answerPrefix + owner + "/" + token
  }

  /// Creates the id of one of the service's own notes.
  package init(receipt name: String) { text = Self.receiptPrefix + name }

  /// Creates an id from a stored text, without a check.
  package init(stored text: String) { self.text = text }
}
