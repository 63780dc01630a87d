import Documents
import JSON

/// An attachment that a client's revision names by its SHA-1: a blob, which is somewhere in the body, or a member of
/// `_attachments`.
///
/// A blob gets the attachment `blob_` and its JSON pointer, as LiteCore itself writes it for a server that knows no blobs. So
/// other clients see it, and its bytes are kept as long as a revision has it.
/// Source: LiteCore, `DBAccess::encodeRevWithLegacyAttachments`.
struct LiteAttachment: Sendable {
  let name: AttachmentName
  let digest: LiteDigest
  let contentType: String?
  /// How many bytes the client says that it has; nil if it doesn't say so.
  let length: Int?

  /// The attachments of a document, each name once.
  /// - Parameter text: the text of `root`.
  /// - Throws: ``DocumentError`` for too many, and for a name or a type that is not allowed; `ended`.
  static func all(
    in document: IncomingDocument, _ root: JSONNode, _ text: [UInt8]
  ) async throws -> [LiteAttachment] {
    var found: [LiteAttachment] = []
    for attachment in document.attachments {
      guard case .stub = attachment.content, let text = attachment.digest,
        let digest = LiteDigest(text)
      else { continue }
      found.append(
        LiteAttachment(
          name: attachment.name, digest: digest, contentType: attachment.contentType,
          length: attachment.length))
    }
    var names = Set(document.attachments.map(\.name))
    let blobs = try await LiteBlobs(in: root, of: text, atMost: IncomingAttachment.most)
    for blob in blobs.all {
      let attachment = try LiteAttachment(blob, among: blobs)
      guard names.insert(attachment.name).inserted else { continue }
      guard names.count <= IncomingAttachment.most else { throw LiteBlobs.tooMany }
      found.append(attachment)
    }
    return found
  }

  private init(_ blob: LiteBlobs.Blob, among blobs: LiteBlobs) throws {
    let type = blob.node["content_type"]?.string
    if let type { try IncomingAttachment.check(type: type) }
    name = try AttachmentName("blob_" + (blobs.pointer(to: blob) ?? blob.digest.text))
    (digest, contentType) = (blob.digest, type)
    length = blob.node["length"]?.int
  }

  private init(
    name: AttachmentName, digest: LiteDigest, contentType: String?, length: Int?
  ) {
    (self.name, self.digest, self.contentType, self.length) = (name, digest, contentType, length)
  }
}

/// The digest by which Couchbase Lite names bytes: `sha1-` and the SHA-1 in Base64.
struct LiteDigest: Sendable, Hashable {
  private static let prefix = "sha1-"

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a digest; nil for any other text.
  init?(_ text: String) {
    var decoder = Base64.Decoder()
    guard text.utf8.count == 33, text.utf8.starts(with: Self.prefix.utf8),
      let first = decoder.decode(Array(text.utf8.dropFirst(Self.prefix.utf8.count))[...]),
      let last = decoder.finish()
    else { return nil }
    bytes = first + last
    guard bytes.count == 20 else { return nil }
  }

  var text: String { Self.prefix + Base64.string(bytes) }
}
