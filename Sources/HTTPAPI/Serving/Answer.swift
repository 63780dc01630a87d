import Documents
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
  /// A JSON answer. What is somebody's own is not to be kept by caches on the way.
  static func json(
    _ bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    var fields = headers
    // Room for what follows here and on the way out, so that they are not moved for each.
    fields.reserveCapacity(headers.count + 6)
    fields[.contentType] = "application/json"
    if !fields.contains(.cacheControl) { fields[.cacheControl] = "no-cache" }
    return Response(
      status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
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
