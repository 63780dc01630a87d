import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// The answer to a write as a value, which can be kept and sent.
struct WriteAnswer: Sendable {
  let status: HTTPResponse.Status
  /// The header fields besides the usual ones: `Location`, `ETag`.
  let headers: HTTPFields
  /// The body, JSON; empty if there is none.
  let body: [UInt8]

  init(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The answer 204 to a write without an outcome.
  @Sendable static func noContent() -> WriteAnswer { WriteAnswer(.noContent) }

  /// An answer with a JSON object. `write` writes its members.
  static func json(
    _ status: HTTPResponse.Status, headers: HTTPFields, _ write: (inout JSONWriter) -> Void
  ) -> WriteAnswer { WriteAnswer(status, headers: headers, body: JSONWriter.object(write)) }

  /// Makes the answer from a kept one.
  init(_ kept: KeptAnswer) {
    var headers: HTTPFields = [:]
    for field in kept.fields {
      if let name = HTTPField.Name(field.name) {
        headers.append(HTTPField(name: name, value: field.value))
      }
    }
    self.init(.named(kept.status), headers: headers, body: kept.body)
  }

  /// The answer in the form that is kept.
  var kept: KeptAnswer {
    KeptAnswer(
      status: status.code,
      fields: headers.map { KeptAnswer.Field(name: $0.name.rawName, value: $0.value) },
      body: body)
  }

  /// The answer in the form that is sent.
  var response: Response {
    body.isEmpty ? .empty(status, headers: headers) : .json(body, status: status, headers: headers)
  }
}

extension Response {
  /// Answers a write.
  /// - Parameter encode: makes the answer, from the outcome alone.
  /// - Parameter useCase: does the write and returns the outcome of its decisive update. It passes `answer` to that
  ///   update, which stores the answer if it is to be kept (``WriteReceipt``).
  /// - Throws: the errors of `useCase`.
  static func written<Outcome: Sendable>(
    as encode: @escaping @Sendable (Outcome) -> WriteAnswer,
    _ useCase: (_ answer: @escaping Answering<Outcome>) async throws -> Outcome
  ) async throws -> Response { encode(try await useCase { encode($0).kept }).response }

  /// A short answer as a value; without its body if that is not JSON.
  func collected() async throws -> WriteAnswer {
    let collector = BodyCollector()
    try await body.write(collector)
    let isJSON = headers[.contentType] == "application/json"
    var headers = headers
    for name in Self.usualFields { headers[name] = nil }
    return WriteAnswer(status, headers: headers, body: isJSON ? collector.bytes : [])
  }

  /// The fields that every answer gets later, or that are not kept.
  private static let usualFields: [HTTPField.Name] = [
    .contentType, .contentLength, .cacheControl, .renewedToken, .setCookie,
  ]
}

/// Collects the body of an answer.
private final class BodyCollector: ResponseBodyWriter {
  private(set) var bytes: [UInt8] = []

  func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytesView }

  func finish(_ trailers: HTTPFields?) async throws {
    // The line end is added again when the answer is sent.
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
  }
}
