/// A document's id: 1 to 512 bytes of UTF-8 without NUL. Only ids of the form `_design/…` may start with `_`.
///
/// Source: CouchDB, "Documents: _id". The limit of the length is this project's own.
package struct DocumentID: ByteString {
  package static let maximumBytes = 512

  /// The id as the client wrote it.
  package let text: String

  /// Checks a text and creates an id.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(_ text: String) throws(DocumentError) {
    let bytes = text.utf8
    guard !bytes.isEmpty else {
      throw DocumentError(.invalidID, "Document id must not be empty")
    }
    guard bytes.count <= Self.maximumBytes else {
      throw DocumentError(.invalidID, "Document id must be at most \(Self.maximumBytes) bytes")
    }
    guard !(bytes.withContiguousStorageIfAvailable { $0.contains(0) } ?? bytes.contains(0)) else {
      throw DocumentError(.invalidID, "Document id must not contain NUL")
    }
    if bytes.first == UInt8(ascii: "_") {
      let design = "_design/".utf8
      guard bytes.starts(with: design), bytes.count > design.count else {
        throw DocumentError(.invalidID, "Only reserved document ids may start with underscore.")
      }
    }
    self.text = text
  }

  /// Creates an id from a stored text, without a check.
  package init(stored text: String) { self.text = text }

  /// Whether this is a design document. The service stores and replicates it, but does not run it.
  package var isDesign: Bool { text.utf8.first == UInt8(ascii: "_") }

  /// A new id for an untitled document: 32 lower-case hex digits of 128 random bits.
  package static func random(using generator: inout some RandomNumberGenerator) -> DocumentID {
    DocumentID(stored: Hex.string(generator.next(), generator.next()))
  }
}

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
