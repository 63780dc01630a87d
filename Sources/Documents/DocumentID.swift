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
