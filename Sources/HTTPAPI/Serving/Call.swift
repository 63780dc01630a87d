import Accounts
import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// A request as a handler sees it.
struct Call: Sendable {
  /// The request.
  let request: Request
  /// What travels with it.
  let context: CallContext

  /// A header field's value.
  subscript(name: HTTPField.Name) -> String? { request.headers[name] }

  /// A path parameter, percent-decoded once.
  /// - Throws: ``Problem`` 400 when it can't be decoded.
  func parameter(_ name: String) throws(Problem) -> String {
    guard let encoded = context.parameters.get(name) else { throw .notFound }
    return try RequestTarget.decode(encoded.utf8, what: "The path")
  }

  /// The query, of which only these names may be given.
  func query(_ known: String...) throws(Problem) -> QueryParameters {
    try QueryParameters(request.uri.query, known: known)
  }

  /// The whole body.
  /// - Throws: ``Problem`` 413 when it is larger than `limit` bytes.
  func body(upTo limit: Int) async throws -> [UInt8] {
    if let declared = request.headers[.contentLength].flatMap({ Int($0) }), declared > limit {
      throw Self.tooLarge(limit)
    }
    do {
      let buffer = try await request.body.collect(upTo: limit)
      return Array(buffer.readableBytesView)
    } catch is NIOTooManyBytesError {
      throw Self.tooLarge(limit)
    }
  }

  /// The body as JSON.
  /// - Throws: ``Problem`` 413, 415 for another content type, 400 for what the parser refuses.
  func json(_ limits: JSONLimits) async throws -> JSONNode {
    try json(try await body(upTo: limits.maximumBytes), limits)
  }

  /// A body that was read, as JSON.
  /// - Throws: ``Problem`` 415 for another content type, ``JSONError`` for what the parser refuses.
  func json(_ bytes: [UInt8], _ limits: JSONLimits) throws -> JSONNode {
    try requireJSON()
    return try ParsedJSON(bytes, limits: limits).root
  }

  /// Who the request comes from, for limits on attempts.
  var address: ClientAddress { ClientAddress(context.remoteAddress?.ipAddress ?? "local") }

  /// JSON is UTF-8 (RFC 8259, section 8.1); a body without a type is taken for JSON.
  private func requireJSON() throws(Problem) {
    guard let type = request.headers[.contentType] else { return }
    let parts = type.lowercased().split(separator: ";").map { $0.trimmingSpaces }
    let charset = parts.dropFirst().first { $0.hasPrefix("charset=") }?.dropFirst(8)
      .filter { $0 != "\"" }
    guard parts.first == "application/json" || parts.first?.hasSuffix("+json") == true,
      charset == nil || charset == "utf-8"
    else {
      throw Problem(
        .unsupportedMediaType, "bad_content_type", "Content-Type must be application/json in UTF-8")
    }
  }

  private static func tooLarge(_ limit: Int) -> Problem {
    Problem(.contentTooLarge, "too_large", "The body must be at most \(limit) bytes")
  }
}

extension String {
  /// The text as one segment of a path: everything but RFC 3986's unreserved bytes percent-encoded.
  var urlSegment: String {
    var encoded = ""
    for byte in utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%" + Hex.string(CollectionOfOne(byte)).uppercased()
      }
    }
    return encoded
  }
}

extension StringProtocol {
  /// Without the blanks and tabs around it.
  var trimmingSpaces: String {
    var bytes = Array(utf8)[...]
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
