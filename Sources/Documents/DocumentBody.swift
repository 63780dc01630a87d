private import Crypto

/// The body of a revision: a JSON object without the fields whose names start with `_`, except
/// ``reservedMembers`` and the ``attachments``.
///
/// The bytes are the client's own. Only white space outside strings and the `_` fields are removed, so that
/// numbers, escapes, unknown fields and their order stay as the client sent them.
package struct DocumentBody: Sendable, Equatable {
  /// The object's text, `{…}`.
  package let bytes: [UInt8]
  /// What follows from the bytes; nil for a body that was read from a store, where it is computed at each
  /// use.
  private let facts: Facts?

  /// SHA-256 of the canonical form (RFC 8785's order and escapes, numbers as written). Equal for bodies that
  /// differ only in order, spacing or escapes.
  package var digest: [UInt8] { (facts ?? Facts(readingBack: bytes)).digest }
  /// The value of the member `type` if it is a string: the kind of the document.
  package var type: String? { (facts ?? Facts(readingBack: bytes)).type }

  /// Members whose names start with `_` but which CouchDB stores like any other: `_access` says who may read
  /// a document, the others are notes of a replicator in its own document.
  package static let reservedMembers: Set<String> = [
    "_access", "_replication_id", "_replication_state", "_replication_state_reason",
    "_replication_state_time", "_replication_stats",
  ]

  /// The body `{}`, which most tombstones have.
  package static let empty = DocumentBody(
    bytes: Array("{}".utf8), digest: Array(SHA256.hash(data: Array("{}".utf8))), type: nil)

  /// Takes the members of an object. Members whose names start with `_` are left out, except
  /// ``reservedMembers``, and attachments in their stored form, which become the first member.
  /// - Parameter attachments: whether attachments are taken; false for what a client sent.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  package init(_ node: JSONNode, attachments: Bool = true) throws(DocumentError) {
    let (members, type) = try Self.members(of: node, attachments: attachments)
    self.init(
      bytes: node.object(of: members, isCanonical: false),
      digest: Array(SHA256.hash(data: node.object(of: members, isCanonical: true))), type: type)
  }

  /// The members that belong to a body, and the value of the member `type` if it is a string.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  static func members(
    of node: JSONNode, attachments: Bool
  ) throws(DocumentError) -> (members: [JSONMember.TextRanges], type: String?) {
    guard node.kind == .object else {
      throw DocumentError(.invalidDocument, "Document must be a JSON object")
    }
    var (members, type): ([JSONMember.TextRanges], String?) = ([], nil)
    for member in node.members {
      if member.nameStartsWithUnderscore, !reservedMembers.contains(member.name) {
        guard attachments, member.nameEquals(attachmentsName),
          AttachmentStub.all(in: member.value) != nil
        else { continue }
        members.insert(member.ranges, at: 0)
        continue
      }
      members.append(member.ranges)
      if member.nameEquals("type") { type = member.value.string }
    }
    return (members, type)
  }

  /// Parses an object's text.
  /// - Throws: ``DocumentError`` with code `invalidJSON`, `tooLarge` or `invalidDocument`.
  package init(parsing bytes: [UInt8], limits: JSONLimits = .document) throws(DocumentError) {
    let parsed: ParsedJSON
    do { parsed = try ParsedJSON(bytes, limits: limits) } catch { throw DocumentError(error) }
    try self.init(parsed.root)
  }

  /// Creates a body from a value of this service.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  package init(_ value: JSONValue) throws(DocumentError) {
    try self.init(parsing: value.bytes, limits: .request)
  }

  /// Creates a body from stored ``bytes``, for callers that need mainly the bytes: ``digest`` and ``type``
  /// are computed at each call.
  package init(readingBack bytes: [UInt8]) {
    self.bytes = bytes
    facts = nil
  }

  /// A body of which all is known.
  init(bytes: [UInt8], digest: [UInt8], type: String?) {
    self.bytes = bytes
    facts = Facts(digest: digest, type: type)
  }

  /// What is computed from a body's bytes.
  private struct Facts: Sendable {
    let digest: [UInt8]
    let type: String?

    init(digest: [UInt8], type: String?) {
      self.digest = digest
      self.type = type
    }

    /// If the bytes are damaged and are no object, the digest is the hash of the bytes.
    init(readingBack bytes: [UInt8]) {
      let body = try? DocumentBody(parsing: bytes)
      self = body?.facts ?? Facts(digest: Array(SHA256.hash(data: bytes)), type: nil)
    }
  }

  /// Whether another body says the same. Unlike the ``digest``, numbers count as doubles: a peer that reads and writes
  /// numbers as doubles sends `1000` for `1e3`, and it is still the same body.
  package func hasSameValue(as other: DocumentBody) -> Bool {
    if digest == other.digest { return true }
    guard let one = try? ParsedJSON(bytes, limits: .stored).root,
      let another = try? ParsedJSON(other.bytes, limits: .stored).root
    else { return false }
    return one.hasSameValue(as: another)
  }

  /// Two bodies are equal if their bytes are equal.
  package static func == (left: DocumentBody, right: DocumentBody) -> Bool {
    left.bytes == right.bytes
  }
}

/// Reads a long body in parts, so that other tasks can run between them.
package struct DocumentBodyReader: Sendable {
  private let bytes: [UInt8]
  private let type: String?
  private var writer: JSONCanonicalWriter
  private var hash = SHA256()

  /// Begins to read an object; see ``DocumentBody/init(_:attachments:)``.
  /// - Parameter attachments: whether attachments are taken; false for what a client sent.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object.
  package init(_ node: JSONNode, attachments: Bool = false) throws(DocumentError) {
    let (members, type) = try DocumentBody.members(of: node, attachments: attachments)
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
