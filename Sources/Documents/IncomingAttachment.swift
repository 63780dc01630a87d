/// An attachment in a document that a client sent.
///
/// Source: CouchDB, "Attachments"; `couch_att:from_json`.
package struct IncomingAttachment: Sendable {
  package enum Content: Sendable {
    /// The member `data`, a string in Base64. Its decoding may take long.
    case data(JSONNode)
    /// `"stub":true`: the bytes are those of an earlier revision.
    case stub
    /// `"follows":true`: the bytes are a part of the request behind the document.
    case follows
  }

  /// The longest content type, in bytes.
  package static let typeBytes = 255
  /// The content type of an attachment that is sent without one.
  package static let standardType = "application/octet-stream"
  /// The most attachments of one document.
  package static let most = 100

  package let name: AttachmentName
  /// Nil when it is not given.
  package let contentType: String?
  package let content: Content
  /// `revpos`; nil when it is not given.
  package let generation: Int?
  /// Nil when it is not given.
  package let digest: String?
  /// `length`: how many bytes it has when they are unpacked; nil when it is not given.
  package let length: Int?
  /// `encoded_length`: how many bytes it has as they are sent; nil when it is not given.
  package let encodedLength: Int?
  /// Whether the bytes that follow are packed.
  package let isGzip: Bool

  /// Whether its bytes are a part of the request behind the document.
  package var follows: Bool { if case .follows = content { true } else { false } }

  /// How the name of an attachment is read.
  package typealias Naming = (String) throws(DocumentError) -> AttachmentName

  /// - Throws: ``DocumentError`` with code `invalidAttachment` or `attachmentLimit`.
  init(_ member: JSONMember, _ naming: Naming) throws(DocumentError) {
    let (name, node) = (try naming(member.name), member.value)
    self.name = name
    guard node.kind == .object else {
      throw DocumentError(.invalidAttachment, "Invalid attachment \(name)")
    }
    contentType = node["content_type"]?.string
    if let contentType { try Self.check(type: contentType) }
    (generation, digest) = (node["revpos"]?.int, node["digest"]?.string)
    (length, encodedLength) = (node["length"]?.int, node["encoded_length"]?.int)
    if node["stub"]?.bool == true {
      (content, isGzip) = (.stub, false)
    } else if node["follows"]?.bool == true {
      guard (encodedLength ?? length ?? -1) >= 0 else {
        throw DocumentError(
          .invalidAttachment, "The attachment \(name) that follows needs its length")
      }
      content = .follows
      switch node["encoding"]?.string {
      case nil, "identity": isGzip = false
      case "gzip": isGzip = true
      default:
        throw DocumentError(.invalidAttachment, "The encoding of \(name) must be gzip, or absent")
      }
    } else {
      guard let data = node["data"], data.kind == .string else { throw Self.invalidData(name) }
      (content, isGzip) = (.data(data), false)
    }
  }

  /// The error of an attachment whose `data` is not Base64, in CouchDB's words.
  package static func invalidData(_ name: AttachmentName) -> DocumentError {
    DocumentError(.invalidAttachment, "Invalid attachment data for \(name)")
  }

  /// Checks a content type, which becomes a header field of answers.
  /// - Throws: ``DocumentError`` with code `attachmentLimit`.
  package static func check(type: String) throws(DocumentError) {
    guard type.utf8.count <= typeBytes, type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw DocumentError(
        .attachmentLimit, "A content_type has at most \(typeBytes) bytes, all printable ASCII")
    }
  }

  /// Reads the member `_attachments` of a document.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object; `invalidAttachment`; `attachmentLimit`.
  static func all(
    in node: JSONNode, _ naming: Naming
  ) throws(DocumentError) -> [IncomingAttachment] {
    guard node.kind == .object else {
      throw DocumentError(.invalidDocument, "Bad special document member: _attachments")
    }
    guard node.count <= most else {
      throw DocumentError(.attachmentLimit, "A document has at most \(most) attachments")
    }
    return try node.members.map { member throws(DocumentError) in
      try IncomingAttachment(member, naming)
    }
  }
}
