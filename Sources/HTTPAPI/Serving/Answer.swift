import Documents
import HTTPTypes
import Hummingbird
import Lanes
import NIOCore
import Synchronization

extension Response {
  /// A JSON answer. What is somebody's own is not to be kept by caches on the way.
  static func json(
    _ bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    .inPieces([bytes], status: status, type: "application/json", headers: headers)
  }

  /// An answer that may be long: its pieces are given away one by one, as the client takes them.
  static func inPieces(
    _ pieces: [[UInt8]], status: HTTPResponse.Status = .ok, type: String,
    headers: HTTPFields = [:]
  ) -> Response {
    var fields = headers
    // Room for what follows here and on the way out, so that they are not moved for each.
    fields.reserveCapacity(headers.count + 6)
    fields[.contentType] = type
    if !fields.contains(.cacheControl) { fields[.cacheControl] = "no-cache" }
    // So that a terminal's prompt stands below it; packed bytes have theirs inside.
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

/// The pieces of a long answer that are not given away yet.
private final class PieceQueue: Sendable {
  /// Bytes that are given away at a time, of which short pieces are put together.
  private static let bytesAtOnce = RequestLimitHandler.pieceBytes

  /// The last stands first.
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
