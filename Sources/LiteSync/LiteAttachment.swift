import Documents

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
    let blobs = try await LiteBlobs(in: root, of: text, atMost: IncomingAttachment.most)
    var (found, names): ([LiteAttachment], Set<AttachmentName>) = ([], [])
    for blob in blobs.all {
      let attachment = try LiteAttachment(blob, among: blobs)
      if names.insert(attachment.name).inserted { found.append(attachment) }
    }
    guard names.union(document.attachments.map(\.name)).count <= IncomingAttachment.most else {
      throw LiteBlobs.tooMany
    }
    // What a device keeps of the attachment for a blob may be that of an earlier blob.
    for attachment in document.attachments where !names.contains(attachment.name) {
      guard case .stub = attachment.content, let text = attachment.digest,
        let digest = LiteDigest(text)
      else { continue }
      found.append(
        LiteAttachment(
          name: attachment.name, digest: digest, contentType: attachment.contentType,
          length: attachment.length))
    }
    return found
  }
}

extension LiteAttachment {
  fileprivate init(_ blob: LiteBlobs.Blob, among blobs: LiteBlobs) throws {
    let type = blob.node["content_type"]?.string
    if let type { try IncomingAttachment.check(type: type) }
    let name = AttachmentName.blobPrefix + (blobs.pointer(to: blob) ?? blob.digest.text)
    self.init(
      name: try AttachmentName(name), digest: blob.digest, contentType: type,
      length: blob.node["length"]?.int)
  }
}

/// The digest by which Couchbase Lite names bytes: `sha1-` and the SHA-1 in Base64.
struct LiteDigest: Sendable, Hashable {
  private static let prefix = "sha1-"

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a digest; nil for any other text.
  init?(_ text: String) {
    guard text.utf8.count == 33, text.utf8.starts(with: Self.prefix.utf8),
      let bytes = Base64.bytes(Array(text.utf8.dropFirst(Self.prefix.utf8.count))),
      bytes.count == 20
    else { return nil }
    self.bytes = bytes
  }

  var text: String { Self.prefix + Base64.string(bytes) }
}

/// The names of attachments on devices.
///
/// LiteCore takes an attachment whose name begins with `blob_` for a blob of the document. It drops it if a digit follows, and
/// never stores a revision in which the rest is no JSON pointer that it can follow. So such a name gets a `~`, and one that
/// has this form already gets one more.
/// Source: LiteCore, `legacy_attachments::encodeStrippingOldMetaProperties`.
extension AttachmentName {
  /// What precedes the JSON pointer of a blob.
  static let blobPrefix = "blob_"

  var isOfBlob: Bool { text.utf8.starts(with: Self.blobPrefix.utf8) }

  private var mayBeEscaped: Bool {
    text.utf8.drop { $0 == UInt8(ascii: "~") }.starts(with: Self.blobPrefix.utf8)
  }

  /// The name on a device, unless it has a blob of this name.
  var onDevice: AttachmentName { mayBeEscaped ? AttachmentName(stored: "~" + text) : self }

  /// Reads the name of an attachment that a device has by this one, which may be a byte longer than others.
  /// - Throws: as any name.
  init(onDevice text: String) throws(DocumentError) {
    let sent = AttachmentName(stored: text)
    let isEscaped = sent.mayBeEscaped && !sent.isOfBlob
    try self.init(isEscaped ? String(Substring(text.utf8.dropFirst())) : text)
  }
}
