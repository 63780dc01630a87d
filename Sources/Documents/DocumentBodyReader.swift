private import Crypto
package import JSON

/// Reads a long body in parts, so that other tasks can run between them.
package struct DocumentBodyReader: Sendable {
  private let bytes: [UInt8]
  private let type: String?
  private var writer: JSONCanonicalWriter
  private var hash = SHA256()

  /// Begins to read what a client sent; see ``DocumentBody/init(_:attachments:)``. Attachments are left out.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  package init(_ node: JSONNode) throws(DocumentError) {
    let (members, type) = try DocumentBody.members(of: node, attachments: false)
    self.type = type
    bytes = node.object(of: members, isCanonical: false)
    writer = JSONCanonicalWriter(node, of: members)
  }

  /// Reads the next part.
  /// - Returns: the body, once all is read; nil before.
  package mutating func next() -> DocumentBody? {
    guard let part = writer.next() else {
      return DocumentBody(bytes: bytes, digest: Array(hash.finalize()), type: type)
    }
    hash.update(data: part)
    return nil
  }
}
