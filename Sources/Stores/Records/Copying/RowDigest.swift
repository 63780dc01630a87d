private import Crypto
import Documents

/// SHA-256 of a store's rows in order. It is the same for two stores with the same content, whichever engines keep them.
///
/// It covers the values that ``RowWalk`` returns: documents with their whole histories and all of their bodies, and local
/// documents. Each value is preceded by its length or has a fixed width.
struct RowDigest {
  private var hash = SHA256()
  /// The documents whose other bodies are still being read, by the sequence number of their first change. A document and
  /// its bodies have a digest of their own, so that the result does not depend on how many rows are in a page.
  private var documents: [Int64: SHA256] = [:]

  /// Adds a document without its other bodies.
  mutating func begin(_ document: CopiedDocument) {
    var hash = SHA256()
    var bytes = document.row.checksum
    bytes.append(bytes: document.tree.encoded)
    Self.add(bytes, document.body, to: &hash)
    documents[document.row.first] = hash
  }

  mutating func add(_ body: CopiedBody) {
    var bytes = Checksum(.body)
    bytes.append(body.revision)
    if var hash = documents.removeValue(forKey: body.first) {
      Self.add(bytes, body.body, to: &hash)
      documents[body.first] = hash
    }
  }

  /// Ends a document, after its last body.
  mutating func end(_ document: StoredDocument) {
    guard let document = documents.removeValue(forKey: document.first) else { return }
    document.finalize().withUnsafeBytes { hash.update(bufferPointer: $0) }
  }

  mutating func add(_ local: CopiedLocal) {
    var bytes = Checksum(.local)
    bytes.append(local.id.text)
    bytes.append(local.document.revision)
    bytes.append(local.expires)
    bytes.append(bytes: local.document.body)
    bytes.bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
  }

  /// The digest of all rows so far, 64 hex digits.
  var text: String { Hex.string(Array(hash.finalize())) }

  private static func add(_ bytes: Checksum, _ body: StoredBody, to hash: inout SHA256) {
    var bytes = bytes
    bytes.append(bytes: body.arrival.bytes)
    bytes.append(Int64(body.bytes.count))
    for part in [bytes.bytes, body.bytes] {
      part.withUnsafeBytes { hash.update(bufferPointer: $0) }
    }
  }
}
