import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON
import Lanes
import NIOCore
import Synchronization

extension Response {
  /// The `Cache-Control` of answers that no cache may keep.
  static let uncached = "private, no-store"

  /// A JSON answer. By default caches have to validate it before each use (`no-cache`).
  static func json(
    _ bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    .inPieces([bytes], status: status, type: "application/json", headers: headers)
  }

  /// An answer that may be long. Each piece is freed when it is written, as fast as the client reads.
  static func inPieces(
    _ pieces: [[UInt8]], status: HTTPResponse.Status = .ok, type: String,
    headers: HTTPFields = [:]
  ) -> Response {
    var fields = headers
    // Reserves space for the fields that are added here and later, so that the array does not grow each time.
    fields.reserveCapacity(headers.count + 6)
    fields[.contentType] = type
    if !fields.contains(.cacheControl) { fields[.cacheControl] = "no-cache" }
    // A line end, so that a terminal's prompt begins a new line. A packed body already contains it.
    let endsLine =
      type == "application/json" && !fields.contains(.contentEncoding)
      && pieces.last?.last != UInt8(ascii: "\n")
    guard pieces.count > 1 else {
      let bytes = pieces.first ?? []
      var buffer = ByteBufferAllocator().buffer(capacity: bytes.count + 1)
      buffer.writeBytes(bytes)
      if endsLine { buffer.writeInteger(UInt8(ascii: "\n")) }
      return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: buffer))
    }
    let all = endsLine ? pieces + [[UInt8(ascii: "\n")]] : pieces
    return Response(status: status, headers: fields, body: PieceQueue(all).body)
  }

  /// A JSON answer written by a closure.
  static func json(
    _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
    _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> Response {
    var writer = JSONWriter()
    writer.beginObject()
    try write(&writer)
    writer.endObject()
    return .json(writer.bytes, status: status, headers: headers)
  }

  /// An answer without a body.
  static func empty(_ status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Response {
    Response(status: status, headers: headers)
  }

  /// A text that is not JSON.
  static func text(
    _ bytes: [UInt8], type: String, headers: HTTPFields = [:]
  ) -> Response {
    var fields = headers
    fields[.contentType] = type
    return Response(
      status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}

/// The remaining pieces of a long answer.
private final class PieceQueue: Sendable {
  /// How many bytes are written at a time; short pieces are joined.
  private static let bytesAtOnce = RequestLimits.answerPieceBytes

  /// The pieces in reverse order.
  private let rest: Mutex<[[UInt8]]>
  private let count: Int

  init(_ pieces: [[UInt8]]) {
    rest = Mutex(pieces.reversed())
    count = pieces.reduce(0) { $0 + $1.count }
  }

  var body: ResponseBody {
    ResponseBody(contentLength: count) { [self] writer in
      while let buffer = next() {
        try await writer.write(buffer)
        try await Slice.giveWay()
      }
      try await writer.finish(nil)
    }
  }

  private func next() -> ByteBuffer? {
    rest.withLock { rest in
      guard let first = rest.popLast() else { return nil }
      var buffer = ByteBuffer(bytes: first)
      while let piece = rest.last, buffer.readableBytes + piece.count <= Self.bytesAtOnce {
        buffer.writeBytes(piece)
        rest.removeLast()
      }
      return buffer
    }
  }
}

/// The coding of a request's body.
///
/// Source: RFC 9110, sections 8.4 and 12.5.3. Another coding is answered 415, with the supported one.
enum ContentCoding: Sendable {
  /// Not packed.
  case identity
  /// Gzip (RFC 1952).
  case gzip

  /// Reads `Content-Encoding`. Names of codings are case-insensitive; `x-gzip` is gzip's old name.
  /// - Throws: ``Problem`` 415 for any other coding, and for more than one: each could multiply the size of what the
  ///   previous one has unpacked.
  init(_ call: Call) throws(Problem) {
    switch call[.contentEncoding].map({ $0.trimmingSpaces.lowercased() }) {
    case nil, "identity", "": self = .identity
    case "gzip", "x-gzip": self = .gzip
    default:
      throw Problem(
        .unsupportedMediaType, "bad_content_type",
        "Content-Encoding must be gzip, once, or absent", headers: [.acceptEncoding: "gzip"])
    }
  }
}

/// The entity tags in a field of a conditional request.
///
/// Source: RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2.
struct EntityTags: Sendable {
  /// Whether the field is `*`.
  let isAny: Bool
  /// The tags without quotation marks. For a strong comparison weak ones are omitted, and so is whose body it was
  /// (``HTTPService/tag(_:of:)``).
  let tags: [String]

  /// Reads a field; nil if it is absent.
  /// - Parameter strong: whether weak tags must not match (`If-Match`).
  /// - Throws: ``Problem`` 400 for anything but `*` or a list of quoted tags.
  init?(_ call: Call, _ name: HTTPField.Name, strong: Bool) throws(Problem) {
    guard let field = call[name] else { return nil }
    let text = field.trimmingSpaces
    if text == "*" {
      isAny = true
      tags = []
      return
    }
    var tags: [String] = []
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      var tag = String(decoding: part, as: UTF8.self).trimmingSpaces.utf8[...]
      let isWeak = tag.starts(with: "W/".utf8)
      if isWeak { tag = tag.dropFirst(2) }
      guard tag.count >= 2, tag.first == UInt8(ascii: "\""), tag.last == UInt8(ascii: "\""),
        !tag.dropFirst().dropLast().contains(UInt8(ascii: "\""))
      else {
        throw Problem(
          .badRequest, "invalid_header", "\(name.canonicalName) must be * or quoted entity tags")
      }
      guard !(isWeak && strong) else { continue }
      tag = tag.dropFirst().dropLast()
      if strong { tag = tag.prefix { $0 != UInt8(ascii: "+") } }
      tags.append(String(decoding: tag, as: UTF8.self))
    }
    isAny = false
    self.tags = tags
  }

  /// Whether a tag, without quotation marks, is among them.
  func matches(_ tag: String) -> Bool {
    isAny || tags.contains { $0.equalsBytes(of: tag) }
  }
}
