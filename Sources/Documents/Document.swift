/// A document as read from a store: its winner, or the revision that was asked for, with the stored body.
package struct Document: Sendable {
  package let id: DocumentID
  /// The revision that ``body`` belongs to.
  package let revision: RevisionID
  package let isDeleted: Bool
  /// The store's sequence number of the document's last change.
  package let sequence: Int64
  /// When the document was created. A document that is restored after a tombstone counts as new.
  package let created: Timestamp
  package let updated: Timestamp
  /// The stored bytes of the body, `{…}` without `_` fields (but see ``DocumentBody/init(_:attachments:)``).
  package let body: [UInt8]

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

  /// The same revision with another body.
  package func with(_ body: [UInt8]) -> Document {
    Document(
      id: id, revision: revision, isDeleted: isDeleted, sequence: sequence, created: created,
      updated: updated, body: body)
  }

  /// Writes the document as CouchDB does: `_id`, `_rev` and, for a tombstone, `_deleted`, then the body's own
  /// bytes. The body is neither parsed nor changed.
  /// - Parameter extra: more members, each with a leading comma.
  package func append(to bytes: inout [UInt8], extra: [UInt8] = []) {
    // A text with more than this document grows by doubling.
    if bytes.isEmpty { bytes.reserveCapacity(body.count + 128 + extra.count) }
    bytes += Self.idName
    JSONWriter.appendString(id.text, to: &bytes)
    bytes += Self.revisionName
    revision.append(to: &bytes)
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
