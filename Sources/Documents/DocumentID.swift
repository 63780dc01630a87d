import Glibc

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
    guard !bytes.isEmpty else { throw DocumentError(.invalidID, "Document id must not be empty") }
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

  /// A new id for an untitled document: 16 hex digits of the nanoseconds since 1970 and 16 of random bits. So untitled
  /// documents are listed in the order in which they were made.
  ///
  /// Source: CouchDB, `[uuids] algorithm`: `utc_random`.
  package static func untitled() -> DocumentID {
    var (time, generator) = (timespec(), SystemRandomNumberGenerator())
    clock_gettime(CLOCK_REALTIME, &time)
    let now = UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    return DocumentID(stored: Hex.string(now, generator.next()))
  }
}
