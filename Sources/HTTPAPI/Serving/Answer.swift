import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import Scheduling
import Synchronization

extension Response {
  /// The `Cache-Control` of answers that no cache may keep.
  static let uncached = "private, no-store"

  /// A JSON answer. By default caches have to validate it before each use (`no-cache`).
  static func json(
    _ bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response { .inPieces([bytes], status: status, type: "application/json", headers: headers) }

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
  ) rethrows -> Response { .json(try JSONWriter.object(write), status: status, headers: headers) }

  /// An answer without a body.
  static func empty(_ status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Response {
    Response(status: status, headers: headers)
  }

  /// A text that is not JSON.
  static func text(_ bytes: [UInt8], type: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
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
