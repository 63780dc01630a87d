/// A document as a store answers it: its winning revision (or the one asked for), body as stored.
package struct Document: Sendable {
  /// The document's id.
  package let id: DocumentID
  /// The revision that ``body`` belongs to.
  package let revision: RevisionID
  /// Whether that revision is a tombstone.
  package let isDeleted: Bool
  /// The store's sequence number of the document's last change.
  package let sequence: Int64
  /// When this life of the document began.
  package let created: Timestamp
  /// When the document last changed.
  package let updated: Timestamp
  /// The body's stored bytes, `{…}` without `_` fields.
  package let body: [UInt8]

  /// A document as read.
  package init(
    id: DocumentID, revision: RevisionID, isDeleted: Bool, sequence: Int64, created: Timestamp,
    updated: Timestamp, body: [UInt8]
  ) {
    self.id = id
    self.revision = revision
    self.isDeleted = isDeleted
    self.sequence = sequence
    self.created = created
    self.updated = updated
    self.body = body
  }

  /// Writes the document as CouchDB does: `_id`, `_rev` and, for a tombstone, `_deleted` before the
  /// body's own bytes, which are neither parsed nor changed.
  /// - Parameter extra: further members, each with its leading comma.
  package func append(to bytes: inout [UInt8], extra: [UInt8] = []) {
    bytes.reserveCapacity(bytes.count + body.count + 128 + extra.count)
    bytes += Self.idName
    JSONWriter.appendString(id.text, to: &bytes)
    bytes += Self.revisionName
    bytes += revision.description.utf8
    bytes.append(UInt8(ascii: "\""))
    if isDeleted { bytes += Self.deletedMember }
    bytes += extra
    if body.count > 2 {
      bytes.append(UInt8(ascii: ","))
      bytes += body[1...]
    } else {
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static let idName = Array(#"{"_id":"#.utf8)
  private static let revisionName = Array(#","_rev":""#.utf8)
  private static let deletedMember = Array(#","_deleted":true"#.utf8)
}
