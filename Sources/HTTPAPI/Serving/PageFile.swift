import Crypto
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// A file of the web page in memory: plain and as gzip, with the entity tags of both.
///
/// Its answers are the same for everybody. A file with its version in the URL never changes, so browsers keep it. They
/// validate any other before each use (`no-cache`), which costs one 304.
package struct PageFile: Sendable {
  /// Its name below `Sources/Page/Files`.
  package let name: String
  private let plain: ByteBuffer
  /// Nil if gzip does not make it smaller.
  private let packed: ByteBuffer?
  /// The SHA-256 of its bytes.
  let digest: String
  private let fields: HTTPFields

  /// Packs a file and computes its tags.
  /// - Parameter hasVersion: whether its URL contains its version.
  package init(name: String, bytes: [UInt8], hasVersion: Bool = false) {
    self.name = name
    plain = ByteBuffer(bytes: bytes)
    let gzip = (try? GzipWriter.deflate(bytes, level: 9)) ?? bytes
    packed = gzip.count < bytes.count ? ByteBuffer(bytes: gzip) : nil
    digest = Hex.string(Array(SHA256.hash(data: bytes)))
    var fields = Self.standard
    fields[.contentType] = Self.type(of: name)
    if name.hasSuffix(".webmanifest") { fields[.vary] = "Accept-Encoding, Accept-Language" }
    if hasVersion { fields[.cacheControl] = "public, max-age=31536000, immutable" }
    self.fields = fields
  }

  /// The entity tag: the first 16 bytes of the digest, which are enough to distinguish versions.
  private var tag: String { String(digest.prefix(32)) }

  /// The answer to a request: the file, as gzip if the client accepts it, or 304 if the client has it.
  ///
  /// The gzip form is another representation and has its own strong tag (RFC 9110, section 8.8.3.3).
  /// - Throws: ``Problem`` 400 for a field that is no list of tags.
  func answer(_ call: Call) throws(Problem) -> Response {
    let packed = call.takesGzip ? packed : nil
    var fields = fields
    fields[.eTag] = packed == nil ? "\"\(tag)\"" : "\"\(tag)-gzip\""
    if let known = try EntityTags(call, .ifNoneMatch, strong: false),
      known.matches(packed == nil ? tag : tag + "-gzip")
    {
      fields[.contentType] = nil
      return .empty(.notModified, headers: fields)
    }
    return response(.ok, fields, packed)
  }

  /// The file as the answer of a path where nothing is: no client keeps it.
  func absence(_ call: Call) -> Response {
    response(.notFound, fields, call.takesGzip ? packed : nil)
  }

  private func response(
    _ status: HTTPResponse.Status, _ fields: HTTPFields, _ packed: ByteBuffer?
  ) -> Response {
    var fields = fields
    if packed != nil { fields[.contentEncoding] = "gzip" }
    return Response(
      status: status, headers: fields, body: ResponseBody(byteBuffer: packed ?? plain))
  }

  /// The page runs and loads only files of this server: nothing inline, nothing from another origin. An invitation's
  /// path contains its token, so the browser sends no path to other origins.
  private static let standard: HTTPFields = [
    .cacheControl: "no-cache",
    .vary: "Accept-Encoding",
    .referrerPolicy: "same-origin",
    .contentSecurityPolicy:
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
      + "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
      + "form-action 'self'; frame-ancestors 'none'",
  ]

  private static func type(of name: String) -> String {
    let ending = name.utf8.split(separator: UInt8(ascii: ".")).last
      .map { String(decoding: $0, as: UTF8.self) }
    return switch ending {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "json": "application/json"
    case "md": "text/markdown; charset=utf-8"
    case "ts", "txt": "text/plain; charset=utf-8"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "webmanifest": "application/manifest+json"
    default: "application/octet-stream"
    }
  }
}
