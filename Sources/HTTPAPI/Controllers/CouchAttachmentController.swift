import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// Attachments with addresses of their own.
///
/// Source: CouchDB, "API reference: attachments".
struct CouchAttachmentController: Sendable {
  let databases: CouchDatabaseAccess
  let address: ServerAddress
  /// The long answers.
  let feeds: Feeds

  var routes: [Route] {
    ["/{docid}/{attachment}", "/_design/{design}/{attachment}"].flatMap { path in
      [
        databases.route(.get, path, read).takingRest,
        databases.route(.put, path, put).takingRest,
        databases.route(.delete, path, delete).takingRest,
      ]
    }
  }

  private func read(_ call: Call, _ store: CouchStore) async throws -> Response {
    let (id, name) = try Self.names(call)
    let revision = try call.couchParameters().revision("rev")
    let found = try await store.read { database in
      try await database.attachment(name, of: id, revision)
    }
    var fields = Response.attachmentFields(found)
    let tag = Base64.string(found.facts.md5)
    if (try? EntityTags(call, .ifNoneMatch, strong: false))?.matches(tag) ?? false {
      return .empty(.notModified, headers: fields)
    }
    let length = found.facts.length
    // A range of another content than the client has is of no use (RFC 9110, section 13.1.5).
    let isSame = call[.ifRange].map { $0.equalsBytes(of: "\"\(tag)\"") } ?? true
    let wanted = call.request.method == .get && isSame ? call[.range] : nil
    fields[.contentType] = found.stub.contentType
    switch ByteRanges(wanted, of: length) {
    case .whole:
      return try await answer([.attachment(found.facts, 0..<length)], .ok, fields, call, store)
    case .some(let ranges) where ranges.count == 1:
      fields[.contentRange] = Self.text(ranges[0], of: length)
      return try await answer(
        [.attachment(found.facts, ranges[0])], .partialContent, fields, call, store)
    case .some(let ranges):
      let boundary = Multipart.boundary()
      fields[.contentType] = "multipart/byteranges; boundary=\"\(boundary)\""
      let segments = Multipart.ranges(ranges, of: found, boundary)
      return try await answer(segments, .partialContent, fields, call, store)
    case .notSatisfiable:
      throw Problem(
        .rangeNotSatisfiable, "requested_range_not_satisfiable",
        "The attachment has \(length) bytes", headers: [.contentRange: "bytes */\(length)"])
    }
  }

  static func text(_ range: Range<Int64>, of length: Int64) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  private func answer(
    _ segments: [AttachmentAnswer.Segment], _ status: HTTPResponse.Status, _ fields: HTTPFields,
    _ call: Call, _ store: CouchStore
  ) async throws -> Response {
    let answer = AttachmentAnswer(segments, from: store)
    if call.request.method == .get, let bytes = try await answer.shortBytes() {
      return Response(
        status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
    return try feeds.response(
      answer, to: call, from: store, waits: false, length: Int(answer.count), status: status,
      fields)
  }

  private func put(_ call: Call, _ store: CouchStore) async throws -> Response {
    let (id, name) = try Self.names(call)
    let parameters = try call.couchParameters()
    let base = try BaseRevision(query: parameters["rev"], ifMatch: call[.ifMatch])
    let type = call[.contentType] ?? IncomingAttachment.standardType
    try IncomingAttachment.check(type: type)
    var receiver = AttachmentReceiver(call, store)
    do {
      let bytes = try await receiver.receiveBody()
      if let digest = call[.contentMD5], !digest.equalsBytes(of: Base64.string(bytes.facts.md5)) {
        throw ServiceError.digestMismatch
      }
      let sent = SentAttachment(name: name, contentType: type, bytes)
      let answer = try await store.write { database in
        try await database.putAttachment(sent, to: id, base: base)
      }
      return .couchWritten(answer, parameters, call, at: address.couchURL(for: call))
    } catch {
      await receiver.discard()
      throw error
    }
  }

  private func delete(_ call: Call, _ store: CouchStore) async throws -> Response {
    let (id, name) = try Self.names(call)
    let base = try BaseRevision(query: call.couchParameters()["rev"], ifMatch: call[.ifMatch])
    return .couch(
      try await store.write(creating: false) { database in
        try await database.deleteAttachment(name, of: id, base: base)
      })
  }

  /// The document and the attachment that a path names.
  /// - Throws: 400 for names that are not allowed; 404 for an attachment of a local document.
  private static func names(_ call: Call) throws -> (DocumentID, AttachmentName) {
    guard case .document(let id) = try DocumentName(call) else { throw ServiceError.missing }
    return (id, try AttachmentName(call.parameter("attachment")))
  }
}

extension Multipart {
  /// Ranges of an attachment, each as a part (RFC 9110, section 14.6).
  fileprivate static func ranges(
    _ ranges: [Range<Int64>], of attachment: FoundAttachment, _ boundary: String
  ) -> [Segment] {
    var segments: [Segment] = []
    for range in ranges {
      let text = CouchAttachmentController.text(range, of: attachment.facts.length)
      let head =
        "\r\n--\(boundary)\r\nContent-Type: \(attachment.stub.contentType)\r\n"
        + "Content-Range: \(text)\r\n\r\n"
      segments += [.bytes(Array(head.utf8)), .attachment(attachment.facts, range)]
    }
    return segments + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))]
  }
}
