import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// The answer to a `GET` of one attachment, with its ranges (RFC 9110, section 14).
struct AttachmentResponse: Sendable {
  let attachment: FoundAttachment
  /// Its bytes, if they have been read.
  var pieces: [[UInt8]]?
  /// Its entity tag, without quotation marks.
  let tag: String
  /// The store that has it, with the rights of the reader.
  let store: CouchStore
  /// The long answers.
  let feeds: Feeds

  /// How long an attachment may be whose bytes are read at once: not longer than a part of a long answer. None for a request
  /// that may want only some of them, or nothing.
  static func bytesAtOnce(for call: Call) -> Int64 {
    let isWhole = call.request.method == .get && call[.range] == nil && call[.ifNoneMatch] == nil
    return isWhole ? AttachmentAnswer.partBytes : 0
  }

  /// Answers a request.
  /// - Parameter fields: the fields of the whole attachment.
  /// - Throws: ``Problem`` 416.
  func response(to call: Call, _ fields: HTTPFields) async throws -> Response {
    var fields = fields
    fields[.eTag] = "\"\(tag)\""
    fields[.acceptRanges] = "bytes"
    if (try? EntityTags(call, .ifNoneMatch, strong: false))?.matches(tag) ?? false {
      return .empty(.notModified, headers: fields)
    }
    let length = attachment.facts.length
    // A range of another content than the client has is of no use (RFC 9110, section 13.1.5).
    let isSame = call[.ifRange].map { $0.equalsBytes(of: "\"\(tag)\"") } ?? true
    let wanted = call.request.method == .get && isSame ? call[.range] : nil
    fields[.contentType] = attachment.stub.contentType
    switch ByteRanges(wanted, of: length) {
    case .whole:
      if let pieces { return Self.short(pieces, .ok, fields) }
      return try await answer([.attachment(attachment.facts, 0..<length)], .ok, fields, call)
    case .some(let ranges) where ranges.count == 1:
      fields[.contentRange] = Self.text(ranges[0], of: length)
      return try await answer(
        [.attachment(attachment.facts, ranges[0])], .partialContent, fields, call)
    case .some(let ranges):
      let boundary = Multipart.boundary()
      fields[.contentType] = "multipart/byteranges; boundary=\"\(boundary)\""
      return try await answer(segments(ranges, boundary), .partialContent, fields, call)
    case .notSatisfiable:
      throw Problem(
        .rangeNotSatisfiable, "requested_range_not_satisfiable",
        "The attachment has \(length) bytes", headers: [.contentRange: "bytes */\(length)"])
    }
  }

  private func answer(
    _ segments: [AttachmentAnswer.Segment], _ status: HTTPResponse.Status, _ fields: HTTPFields,
    _ call: Call
  ) async throws -> Response {
    let answer = AttachmentAnswer(segments, from: store)
    if call.request.method == .get, let pieces = try await answer.shortPieces() {
      return Self.short(pieces, status, fields)
    }
    return try feeds.response(
      answer, to: call, from: store, waits: false, length: Int(answer.count), status: status,
      fields)
  }

  private static func short(
    _ pieces: [[UInt8]], _ status: HTTPResponse.Status, _ fields: HTTPFields
  ) -> Response {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
    for piece in pieces { buffer.writeBytes(piece) }
    return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: buffer))
  }

  private static func text(_ range: Range<Int64>, of length: Int64) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  /// Ranges, each as a part (RFC 9110, section 14.6).
  private func segments(
    _ ranges: [Range<Int64>], _ boundary: String
  ) -> [AttachmentAnswer.Segment] {
    var segments: [AttachmentAnswer.Segment] = []
    for range in ranges {
      let head =
        "\r\n--\(boundary)\r\nContent-Type: \(attachment.stub.contentType)\r\n"
        + "Content-Range: \(Self.text(range, of: attachment.facts.length))\r\n\r\n"
      segments += [.bytes(Array(head.utf8)), .attachment(attachment.facts, range)]
    }
    return segments + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))]
  }
}
