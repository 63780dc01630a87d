import Documents
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore

/// A response as a client receives it.
struct Reply: Sendable {
  /// The status code.
  let status: Int
  /// The header fields.
  let headers: HTTPFields
  /// The body, unpacked.
  let bytes: [UInt8]
  /// The bytes of the body as it was sent.
  let sentCount: Int

  /// The response that the test client received.
  init(_ response: TestResponse) {
    status = response.status.code
    headers = response.headers
    let sent = Array(response.body.readableBytesView)
    sentCount = sent.count
    let isPacked = response.headers[.contentEncoding] == "gzip"
    bytes = (isPacked ? try? GzipReader.inflate(sent, limit: 64 << 20) : nil) ?? sent
  }

  private init(_ line: [UInt8], of reply: Reply) {
    (status, headers, bytes, sentCount) = (reply.status, reply.headers, line, line.count)
  }

  /// One response for each line of the body that is not empty.
  var lines: [Reply] { bytes.split(separator: 0x0A).map { Reply(Array($0), of: self) } }

  /// The body as text. A JSON text has no newline at its end.
  var text: String {
    let isJSON = headers[.contentType]?.utf8.contains("json".utf8) ?? false
    let endsLine = isJSON && bytes.last == UInt8(ascii: "\n")
    return String(decoding: endsLine ? bytes.dropLast() : bytes, as: UTF8.self)
  }

  /// The body as JSON; null if it is not JSON.
  var json: JSONValue { (try? JSONValue(parsing: bytes, limits: .request)) ?? .null }

  /// A member of the body that is a string.
  subscript(name: String) -> String? { json[name]?.string }

  /// The error code.
  var error: String? { self["error"] }

  /// The media type without its parameters.
  var mediaType: String? {
    headers[.contentType].map { String($0.prefix { $0 != ";" }) }
  }

  /// The ids of the bookmarks or hotels in the body.
  var ids: [String] {
    let items = json["bookmarks"] ?? json["hotels"] ?? json["results"] ?? json["data"]
    return items?.array?.compactMap { $0["id"]?.string } ?? []
  }

  /// A problem's members without the request's id, which always differs.
  var problem: JSONValue? {
    var object = json.object
    object?["requestId"] = nil
    return object.map { .object($0) }
  }
}
