/// An attachment as a stored body names it: without its bytes, which the store keeps separately.
///
/// Source: CouchDB, "Attachments: stubs".
package struct AttachmentStub: Sendable, Equatable {
  package let name: AttachmentName
  package let contentType: String
  /// `revpos`: the generation in which the attachment got its bytes.
  package let generation: Int
  /// `md5-` and the MD5 of the bytes in Base64.
  package let digest: String
  /// How many bytes it has.
  package let length: Int64

  package init(
    name: AttachmentName, contentType: String, generation: Int, digest: String, length: Int64
  ) {
    self.name = name
    self.contentType = contentType
    self.generation = generation
    self.digest = digest
    self.length = length
  }

  /// Reads a stored stub; nil for any other form.
  init?(_ member: JSONMember) {
    let node = member.value
    guard node.kind == .object, node.count == 5, node["stub"]?.bool == true,
      let contentType = node["content_type"]?.string, let generation = node["revpos"]?.int,
      let digest = node["digest"]?.string, let length = node["length"]?.int,
      let name = try? AttachmentName(member.name)
    else { return nil }
    self.init(
      name: name, contentType: contentType, generation: generation, digest: digest,
      length: Int64(length))
  }

  /// Reads the stubs of a stored `_attachments`; nil for any other form, and for an empty one.
  package static func all(in node: JSONNode) -> [AttachmentStub]? {
    guard node.kind == .object, node.count > 0 else { return nil }
    var stubs: [AttachmentStub] = []
    for member in node.members {
      guard let stub = AttachmentStub(member) else { return nil }
      stubs.append(stub)
    }
    return stubs
  }

  /// Whether another attachment has the same bytes, as far as their MD5 and their number say.
  package func hasSameBytes(_ other: AttachmentStub) -> Bool {
    digest.equalsBytes(of: other.digest) && length == other.length
  }

  /// The attachment in a new revision. If the revision before it does not have these bytes under this name, it gets the new
  /// generation: a replicator that knows the revision before does not have them.
  /// - Parameter former: the attachments of the revision before.
  package func following(_ former: [AttachmentStub], generation: Int) -> AttachmentStub {
    let known = former.first { $0.name == name && hasSameBytes($0) }
    return AttachmentStub(
      name: name, contentType: contentType, generation: known?.generation ?? generation,
      digest: digest, length: length)
  }

  /// Writes the members that CouchDB writes for every attachment.
  package func appendMembers(to writer: inout JSONWriter) {
    writer.member("content_type", contentType)
    writer.member("revpos", generation)
    writer.member("digest", digest)
  }

  package func append(to writer: inout JSONWriter) {
    writer.object(name.text) { writer in
      appendMembers(to: &writer)
      writer.member("length", Int(clamping: length))
      writer.member("stub", true)
    }
  }
}

/// The attachments that a body names. They are the body's first member, `_attachments`, in the form in which they are
/// answered, so that a document with attachments is read as any other.
extension DocumentBody {
  package static let attachmentsName = "_attachments"
  private static let start = Array(#"{"_attachments":"#.utf8)

  /// Whether a stored body names attachments.
  package static func hasAttachments(_ bytes: [UInt8]) -> Bool { bytes.starts(with: start) }

  /// The attachments that a stored body names, and the range of the member's value; nil if it names none.
  package static func attachments(
    in bytes: [UInt8]
  ) -> (stubs: [AttachmentStub], range: Range<Int>)? {
    guard hasAttachments(bytes),
      let range = JSONOutline(bytes, in: bytes.indices)?.value(named: attachmentsName, in: bytes),
      let root = try? ParsedJSON(Array(bytes[range]), limits: .stored).root,
      let stubs = AttachmentStub.all(in: root)
    else { return nil }
    return (stubs, range)
  }

  /// The attachments that the body names.
  package var attachments: [AttachmentStub] { Self.attachments(in: bytes)?.stubs ?? [] }

  /// The same body with these attachments instead of its own.
  /// - Throws: ``DocumentError`` with code `tooLarge`.
  package func with(_ stubs: [AttachmentStub]) throws(DocumentError) -> DocumentBody {
    let own = Self.attachments(in: bytes)
    guard own != nil || !stubs.isEmpty else { return self }
    let rest = own.map { Self.rest(of: bytes, behind: $0.range) } ?? bytes
    guard !stubs.isEmpty else { return try DocumentBody(parsing: rest, limits: .stored) }
    let body = JSONWriter.object { writer in
      writer.object(Self.attachmentsName) { writer in
        for stub in stubs { stub.append(to: &writer) }
      }
      writer.members(of: rest)
    }
    return try DocumentBody(parsing: body, limits: .stored)
  }

  /// The body in a new revision; see ``AttachmentStub/following(_:generation:)``.
  /// - Parameter former: the stored body of the revision before; nil for none, and for a tombstone.
  /// - Throws: ``DocumentError`` with code `tooLarge`.
  package func following(
    _ former: [UInt8]?, generation: Int
  ) throws(DocumentError) -> DocumentBody {
    guard Self.hasAttachments(bytes) else { return self }
    let known = former.flatMap { Self.attachments(in: $0)?.stubs } ?? []
    return try with(attachments.map { $0.following(known, generation: generation) })
  }

  /// A stored body without its attachments.
  /// - Parameter range: the range of their value, which is the first one.
  package static func rest(of bytes: [UInt8], behind range: Range<Int>) -> [UInt8] {
    let hasMore = bytes[range.upperBound] == UInt8(ascii: ",")
    return [UInt8(ascii: "{")] + bytes[(range.upperBound + (hasMore ? 1 : 0))...]
  }
}
