import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Stores

/// The answer to a write as a value, so that it can be kept as well as sent.
struct WriteAnswer: Sendable {
  /// The status.
  let status: HTTPResponse.Status
  /// The header fields beside the usual ones: `Location`, `ETag`.
  let headers: HTTPFields
  /// The body, JSON; empty for none.
  let body: [UInt8]

  /// An answer.
  init(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer that was kept.
  init(_ kept: KeptAnswer) {
    var headers: HTTPFields = [:]
    for field in kept.fields {
      if let name = HTTPField.Name(field.name) {
        headers.append(HTTPField(name: name, value: field.value))
      }
    }
    self.init(HTTPResponse.Status(code: kept.status), headers: headers, body: kept.body)
  }

  /// It as it is kept.
  var kept: KeptAnswer {
    KeptAnswer(
      status: status.code,
      fields: headers.map { KeptAnswer.Field(name: $0.name.rawName, value: $0.value) },
      body: body)
  }

  /// It as it is sent.
  var response: Response {
    body.isEmpty
      ? .empty(status, headers: headers) : .json(body, status: status, headers: headers)
  }
}

extension Response {
  /// Answers a write. Where the answer is kept (``WriteReceipt``), `encode` runs inside the update, so that the answer
  /// is there as soon as the write is: whoever answers a write that is one update says so by this.
  /// - Parameter encode: makes the answer of the outcome; nothing else goes into it.
  /// - Parameter useCase: comes out with what its update came out with.
  /// - Throws: what `useCase` throws.
  static func written<Outcome: Sendable>(
    as encode: @escaping @Sendable (Outcome) -> WriteAnswer,
    _ useCase: () async throws -> Outcome
  ) async throws -> Response {
    WriteReceipt.current?.encodes { outcome in (outcome as? Outcome).map { encode($0).kept } }
    return encode(try await useCase()).response
  }

  /// A short answer as a value; without its body where that is no JSON.
  func collected() async throws -> WriteAnswer {
    let collector = BodyCollector()
    try await body.write(collector)
    let isJSON = headers[.contentType] == "application/json"
    var headers = headers
    for name in Self.usualFields { headers[name] = nil }
    return WriteAnswer(status, headers: headers, body: isJSON ? collector.bytes : [])
  }

  /// The fields that every answer gets on its way.
  private static let usualFields: [HTTPField.Name] = [
    .contentType, .contentLength, .cacheControl, .renewedToken, .setCookie,
  ]
}

/// Takes the body of an answer.
private final class BodyCollector: ResponseBodyWriter {
  private(set) var bytes: [UInt8] = []

  func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytesView }

  func finish(_ trailers: HTTPFields?) async throws {
    // The line's end is added whenever it is sent.
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
  }
}
