private import Crypto
package import JSON

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

/// What a revision says: a JSON object without the fields whose names start with `_`, but for ``reservedMembers``.
///
/// The bytes are the client's own, only white space outside strings and the `_` fields left out, so
/// that numbers, escapes, unknown fields and their order come back as they went in.
package struct DocumentBody: Sendable, Hashable {
  /// The object's text, `{…}`.
  package let bytes: [UInt8]
  /// What the bytes say; nil for a body that was read back, until somebody asks.
  private let facts: Facts?

  /// SHA-256 of the canonical form (RFC 8785's order and escapes, numbers as written): equal for
  /// bodies that differ in order, spacing or escapes only.
  package var digest: [UInt8] { (facts ?? Facts(readingBack: bytes)).digest }
  /// The value of the member `type` when it is a string: what kind of thing the document is.
  package var type: String? { (facts ?? Facts(readingBack: bytes)).type }

  /// Members whose names start with `_` that CouchDB stores as any other: a replicator's notes in its own document,
  /// and who may read one.
  package static let reservedMembers: Set<String> = [
    "_access", "_replication_id", "_replication_state", "_replication_state_reason",
    "_replication_state_time", "_replication_stats",
  ]

  /// The body `{}`, as most tombstones have it.
  package static let empty = DocumentBody(
    bytes: Array("{}".utf8), canonical: Array("{}".utf8), type: nil)

  /// Takes an object's members, the reserved ones left out.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  package init(_ node: JSONNode) throws(DocumentError) {
    guard node.kind == .object else {
      throw DocumentError(.invalidDocument, "Document must be a JSON object")
    }
    var (members, type): ([JSONMember.Place], String?) = ([], nil)
    for member in node.members
    where !member.nameStartsWithUnderscore || Self.reservedMembers.contains(member.name) {
      members.append(member.place)
      if member.nameEquals("type") { type = member.value.string }
    }
    self.init(
      bytes: node.object(of: members, isCanonical: false),
      canonical: node.object(of: members, isCanonical: true), type: type)
  }

  /// Parses an object's text.
  /// - Throws: ``DocumentError`` with code `invalidJSON`, `tooLarge` or `invalidDocument`.
  package init(parsing bytes: [UInt8], limits: JSONLimits = .document) throws(DocumentError) {
    let parsed: ParsedJSON
    do { parsed = try ParsedJSON(bytes, limits: limits) } catch { throw DocumentError(error) }
    try self.init(parsed.root)
  }

  /// Writes a value made by this service.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  package init(_ value: JSONValue) throws(DocumentError) {
    try self.init(parsing: value.bytes, limits: .request)
  }

  /// Takes the ``bytes`` of a body that was kept, for whoever wants them alone: ``digest`` and ``type`` are found anew
  /// at each call.
  package init(readingBack bytes: [UInt8]) {
    self.bytes = bytes
    facts = nil
  }

  private init(bytes: [UInt8], canonical: [UInt8], type: String?) {
    self.bytes = bytes
    facts = Facts(digest: Array(SHA256.hash(data: canonical)), type: type)
  }

  /// What follows from a body's bytes.
  private struct Facts: Sendable {
    let digest: [UInt8]
    let type: String?

    init(digest: [UInt8], type: String?) {
      self.digest = digest
      self.type = type
    }

    /// Where damage has left bytes that are no object, the digest is that of the bytes.
    init(readingBack bytes: [UInt8]) {
      let body = try? DocumentBody(parsing: bytes)
      self = body?.facts ?? Facts(digest: Array(SHA256.hash(data: bytes)), type: nil)
    }
  }

  /// Bodies of the same bytes are equal.
  package static func == (left: DocumentBody, right: DocumentBody) -> Bool {
    left.bytes == right.bytes
  }

  /// The bytes count.
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The id of the revision that puts this body below `parent`: the same wherever it is computed.
  ///
  /// Layout of what is hashed (SHA-256, the first 16 bytes count): the byte 1, the byte 1 for a
  /// tombstone or 0, the parent's id as text, the byte 0, the body's 32-byte ``digest``.
  package func revision(below parent: RevisionID?, isDeleted: Bool) -> RevisionID {
    var hash = SHA256()
    hash.update(data: [1, isDeleted ? 1 : 0])
    if let parent { hash.update(data: Array(parent.description.utf8)) }
    hash.update(data: [0])
    hash.update(data: digest)
    return RevisionID(
      generation: (parent?.generation ?? 0) + 1,
      digest: RevisionDigest(hash: hash.finalize()))
  }
}
