/// A document's id: 1 to 512 bytes of UTF-8 without NUL. A leading `_` is kept for `_design/…`.
///
/// Source: CouchDB, "Documents: _id"; the bound on the length is this project's.
package struct DocumentID: ByteString {
  /// The longest id, in bytes.
  package static let maximumBytes = 512

  /// The id as written by the client.
  package let text: String

  /// Checks the rules.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(_ text: String) throws(DocumentError) {
    let bytes = text.utf8
    guard !bytes.isEmpty else {
      throw DocumentError(.invalidID, "Document id must not be empty")
    }
    guard bytes.count <= Self.maximumBytes else {
      throw DocumentError(.invalidID, "Document id must be at most \(Self.maximumBytes) bytes")
    }
    guard !bytes.contains(0) else {
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

  /// An id that was checked when it was stored.
  package init(stored text: String) { self.text = text }

  /// Whether this is a design document, which is stored and replicated but never run.
  package var isDesign: Bool { text.utf8.first == UInt8(ascii: "_") }

  /// A new id for an untitled document: 32 lower-case hex digits of 128 random bits.
  package static func random(using generator: inout some RandomNumberGenerator) -> DocumentID {
    DocumentID(stored: Hex.string(generator.next(), generator.next()))
  }
}

/// The id of a local document: kept with the store, never replicated, in no feed.
///
/// Clients' ids start with `_local/`; the service keeps its own receipts under ``receiptPrefix``,
/// which no client can name.
package struct LocalID: ByteString {
  /// What clients' local ids start with.
  package static let clientPrefix = "_local/"
  /// What the service's own notes (idempotency keys, finished merges) start with.
  package static let receiptPrefix = "receipt/"
  /// What the answers to writes that are kept for their clients start with; the writer's id and a slash follow.
  package static let answerPrefix = "receipt/answer/"

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

  /// The id of a kept answer.
  /// - Parameter owner: the id of whoever wrote.
  /// - Parameter token: tells it from the owner's others.
  package init(answer token: String, to owner: String) {
    text = Self.answerPrefix + owner + "/" + token
  }

  /// The id of one of the service's own notes.
  package init(receipt name: String) { text = Self.receiptPrefix + name }

  /// An id that was checked when it was stored.
  package init(stored text: String) { self.text = text }
}
