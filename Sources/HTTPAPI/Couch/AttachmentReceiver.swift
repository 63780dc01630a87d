import CouchSync
import Documents
import HTTPServer
import HTTPTypes
import Scheduling
import Stores

/// Receives attachments. A long one is written to the store in parts while it arrives, so that it is never whole in memory.
struct AttachmentReceiver {
  private let call: Call
  private let store: CouchStore
  /// The most bytes of one.
  private let limit: Int
  /// All attachments that were begun.
  private var begun: [AttachmentUpload] = []
  private var upload: AttachmentUpload
  /// The bytes of complete attachments that are held in memory until their document is written.
  private var heldBytes = 0
  private var reserved = 0

  init(_ call: Call, _ store: CouchStore) {
    (self.call, self.store) = (call, store)
    limit = store.attachmentBytes
    upload = AttachmentUpload(limit: limit)
  }

  /// Receives the whole body as one attachment.
  /// - Throws: 413, 507 `quota_exceeded`; the errors of the connection.
  mutating func receiveBody() async throws -> NewAttachment {
    if let declared = call[.contentLength].flatMap({ Int($0) }), declared > limit {
      throw AttachmentUpload.tooLarge(limit)
    }
    for try await bytes in try call.streamedBody(unpackingTo: mostUnpacked) {
      try await append(bytes)
    }
    return try await finish()
  }

  /// Adds the next bytes of the present attachment.
  private mutating func append(_ bytes: [UInt8]) async throws {
    try upload.append(bytes)
    try call.reserve(heldBytes + min(upload.count, AttachmentLimits.heldBytes), beyond: &reserved)
    if upload.isFull { try await write(isLast: false) }
    try await Slice.giveWay()
  }

  private mutating func write(isLast: Bool) async throws {
    var next = upload
    defer { upload = next }
    try await store.write { database in try await database.write(&next, isLast: isLast) }
  }

  /// Ends the present attachment, and begins another one. Short ones are held together up to
  /// ``AttachmentLimits/heldBytes``; further ones are written at once.
  private mutating func finish() async throws -> NewAttachment {
    if upload.isBegun || heldBytes + upload.count > AttachmentLimits.heldBytes {
      try await write(isLast: true)
      begun.append(upload)
    } else {
      heldBytes += upload.count
    }
    defer { upload = AttachmentUpload(limit: limit) }
    return upload.finish()
  }

  /// Removes what was written of the attachments, after a failure.
  func discard() async { await store.discard(begun + [upload]) }

  // A document with the attachments that follow it, `multipart/related`.
  //
  // Source: CouchDB, "PUT /{db}/{docid}: creating multiple attachments"; RFC 2387.

  /// What a body of several parts contains.
  struct Related {
    let document: JSONNode
    let following: [AttachmentName: NewAttachment]
  }

  /// Receives a document and then its attachments, in the order in which the document names them or by the names in
  /// `Content-Disposition`.
  /// - Throws: 400 for a malformed body, for a missing, unknown or wrong part; 413, 507.
  mutating func receiveRelated(boundary: String) async throws -> Related {
    var (reader, parts) = (MultipartReader(boundary: boundary), RelatedParts())
    do {
      for try await bytes in try call.streamedBody() {
        reader.append(bytes)
        while let event = try reader.next() {
          try await take(event, &parts)
          try await Slice.giveWay()
        }
      }
    } catch is MultipartReader.Failure { throw Self.malformed }
    guard reader.isComplete, let document = parts.document, parts.rest.isEmpty else {
      throw Self.malformed
    }
    return Related(document: document, following: parts.following)
  }

  private static let malformed = ServiceError.badRequest(
    "The body must be multipart/related: the document, and then a part for each attachment that "
      + "follows")

  /// The parts so far.
  private struct RelatedParts {
    var text: [UInt8] = []
    var document: JSONNode?
    /// The attachments that are still to come.
    var rest: [IncomingAttachment] = []
    var following: [AttachmentName: NewAttachment] = [:]
    var present: IncomingAttachment?
    /// How many bytes of the present attachment were sent.
    var count = 0
    var unpacking: GzipReader?
  }

  private mutating func take(
    _ event: MultipartReader.Event, _ parts: inout RelatedParts
  ) async throws {
    switch event {
    case .begin(let fields):
      guard parts.document != nil else { return }
      parts.present = try Self.attachment(fields, among: &parts.rest)
      parts.count = 0
      parts.unpacking = parts.present?.isGzip == true ? try Self.unpacking() : nil
    case .bytes(let bytes):
      guard parts.document != nil else {
        parts.text += bytes
        let most = store.documentLimits.document.maximumBytes
        guard parts.text.count <= most else { throw Call.tooLarge(most) }
        try call.reserve(parts.text.count, beyond: &reserved)
        return
      }
      parts.count += bytes.count
      try await append(bytes, unpacking: parts.unpacking)
    case .end:
      guard let attachment = parts.present else {
        let limits = store.documentLimits.document
        let node = try await Call.parsed(parts.text, limits)
        parts.text = []
        parts.document = node
        let body = try await DocumentBody.readLong(node)
        parts.rest = try IncomingDocument(node, read: body).attachments.filter(\.follows)
        return
      }
      let sent = attachment.encodedLength ?? attachment.length
      guard sent == parts.count, parts.unpacking?.isComplete ?? true else {
        throw ServiceError.badRequest(
          "The part of \(attachment.name) has another length than the document says")
      }
      let bytes = try await finish()
      if !attachment.isGzip, let digest = attachment.digest, digest.hasPrefix("md5-"),
        !digest.equalsBytes(of: bytes.facts.digest)
      {
        throw ServiceError.digestMismatch
      }
      parts.following[attachment.name] = bytes
    }
  }

  private static func unpacking() throws -> GzipReader {
    do { return try GzipReader() } catch { throw Call.problem(error) }
  }

  /// The most bytes that are unpacked of an attachment, whatever it was packed to: CouchDB packs texts, some of them a
  /// thousand times. More than its limit, which is reported as such.
  private var mostUnpacked: Int { limit + GzipReader.pieceBytes }

  /// Adds the next bytes of a part.
  private mutating func append(_ bytes: [UInt8], unpacking reader: GzipReader?) async throws {
    guard let reader else { return try await append(bytes) }
    reader.limit = mostUnpacked
    do {
      try reader.append(bytes)
      while let unpacked = try await reader.next() { try await append(unpacked) }
    } catch let error as CompressionError { throw Call.problem(error) }
  }

  /// The attachment of a part: the one that it names, or the next one.
  private static func attachment(
    _ fields: [String: String], among rest: inout [IncomingAttachment]
  ) throws -> IncomingAttachment {
    guard let next = rest.first else { throw malformed }
    let field = fields["content-disposition"] ?? ""
    // CouchDB writes names as they are, with quotation marks in them, and in order.
    guard !field.equalsBytes(of: "attachment; filename=\"\(next.name)\"") else {
      return rest.removeFirst()
    }
    let name = fileName(field)
    let index = name.flatMap { name in rest.firstIndex { $0.name.text.equalsBytes(of: name) } }
    return rest.remove(at: index ?? 0)
  }

  /// The parameter `filename` of a `Content-Disposition`, in quotation marks or not (RFC 2183, section 2).
  private static func fileName(_ field: String) -> String? {
    guard let start = field.utf8.firstRange(of: "filename=".utf8)?.upperBound else { return nil }
    let value = field.utf8[start...]
    guard value.first == UInt8(ascii: "\"") else {
      let ends = Array("; \t".utf8)
      return String(decoding: value.prefix { !ends.contains($0) }, as: UTF8.self)
    }
    var (bytes, isEscaped) = ([UInt8](), false)
    for byte in value.dropFirst() {
      if !isEscaped, byte == UInt8(ascii: "\\") {
        isEscaped = true
        continue
      }
      if !isEscaped, byte == UInt8(ascii: "\"") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
      isEscaped = false
    }
    return nil
  }
}
