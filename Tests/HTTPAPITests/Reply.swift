import Compression
import HTTPTypes
import HummingbirdTesting
import JSON
import NIOCore

/// An answer as a client has it.
struct Reply: Sendable {
  /// The status code.
  let status: Int
  /// The header fields.
  let headers: HTTPFields
  /// The body, unpacked.
  let bytes: [UInt8]
  /// How long the body was on its way, in bytes.
  let sentCount: Int

  /// The answer of the testing client.
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

  /// An answer of each line of the body that is not empty.
  var lines: [Reply] { bytes.split(separator: 0x0A).map { Reply(Array($0), of: self) } }

  /// The body as text, JSON without the newline at its end.
  var text: String {
    let isJSON = headers[.contentType]?.utf8.contains("json".utf8) ?? false
    let endsLine = isJSON && bytes.last == UInt8(ascii: "\n")
    return String(decoding: endsLine ? bytes.dropLast() : bytes, as: UTF8.self)
  }

  /// The body as JSON; null when it is none.
  var json: JSONValue { (try? JSONValue(parsing: bytes, limits: .request)) ?? .null }

  /// A member of the body that is a string.
  subscript(name: String) -> String? { json[name]?.string }

  /// The error's word.
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

  /// A problem's members but its request's id, which differs each time.
  var problem: JSONValue? {
    var object = json.object
    object?["requestId"] = nil
    return object.map { .object($0) }
  }
}
