import Documents
import HTTPTypes
import Hummingbird
import NIOCore

extension Problem {
  /// Which words and type an answer has.
  enum Dialect: Sendable {
    /// `application/problem+json` (RFC 9457).
    case problem
    /// CouchDB's `{"error","reason"}` as `application/json`.
    case couch
    /// A problem that says its reason once more as `failure` and `message`, which the travel-sample's apps read.
    case travel

    /// The dialect of a path's family.
    init(path: String) {
      if path == "/couch" || path.utf8.starts(with: "/couch/".utf8) {
        self = .couch
      } else {
        self = path.utf8.starts(with: "/api/".utf8) ? .travel : .problem
      }
    }
  }

  /// What `type` starts with: the error's name follows.
  private static let typePrefix = "urn:hotel-bookmarks:error:"

  /// The answer.
  func response(in dialect: Dialect, requestID: String) -> Response {
    Response(
      status: status, headers: fields(in: dialect),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes(in: dialect, requestID: requestID))))
  }

  /// The answer's header fields, without its length.
  func fields(in dialect: Dialect) -> HTTPFields {
    var fields = headers
    fields[.contentType] =
      dialect == .couch ? "application/json" : "application/problem+json"
    fields[.cacheControl] = "no-store"
    return fields
  }

  /// The answer's body.
  func bytes(in dialect: Dialect, requestID: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    if dialect != .couch {
      writer.member("type", Self.typePrefix + error)
      writer.member("title", status.reasonPhrase)
      writer.member("status", status.code)
      writer.member("detail", reason)
    }
    writer.member("error", error)
    writer.member("reason", reason)
    if dialect != .couch { writer.member("requestId", requestID) }
    if dialect == .travel {
      writer.member("failure", reason)
      writer.member("message", reason)
    }
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
