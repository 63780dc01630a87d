import Crypto
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Stores

/// What a client wishes of a write beside the write: an idempotency key, an answer before it is done.
///
/// Sources: IETF draft "The Idempotency-Key HTTP Header Field"; RFC 7240, section 4.1.
struct WriteWish: Sendable {
  /// What the answer is kept by: of a key its digest, 32 hex digits.
  let token: String
  /// Whether there is a key.
  let hasKey: Bool
  /// Whether the client prefers not to wait.
  let isAsync: Bool

  /// Reads the header fields; nil for a request that wishes nothing.
  /// - Throws: ``Problem`` 400 for a key that is none.
  init?(_ call: Call) throws(Problem) {
    let key = call[.idempotencyKey]
    isAsync = call[.prefer].map(Self.prefersAsync) ?? false
    hasKey = key != nil
    guard let key else {
      guard isAsync else { return nil }
      var generator = SystemRandomNumberGenerator()
      token = Hex.string(generator.next(), generator.next())
      return
    }
    guard (1...StoreLimits.receiptKeyBytes).contains(key.utf8.count) else {
      throw Problem(
        .badRequest, "invalid_header",
        "Idempotency-Key must have 1 to \(StoreLimits.receiptKeyBytes) bytes")
    }
    token = Hex.string(Array(SHA256.hash(data: Array(key.utf8))).prefix(16))
  }

  /// Whether `respond-async` is among the preferences; their names know no case.
  private static func prefersAsync(_ field: String) -> Bool {
    field.lowercased().split(separator: ",").contains { preference in
      preference.split(separator: ";").first.map { $0.trimmingSpaces } == "respond-async"
    }
  }

  /// Bodies up to here are read before the write begins, in bytes: as many as a batch may have. Of a longer one that
  /// says its length, the length alone tells it from another.
  static let bodyBytes = JSONLimits.document.maximumBytes

  /// Reads the request's body, if it may have one that is not too long.
  /// - Returns: the call with the body at hand, and how many bytes that has, nil for one that is still to be read;
  ///   besides the digest of all that makes the request this one: method, target, conditions, body.
  /// - Throws: ``Problem`` 413 for a body of unknown length that is too long.
  func read(
    _ call: Call
  ) async throws -> (call: Call, bodyBytes: Int?, digest: [UInt8]) {
    var digest = SHA256()
    func add(_ part: String) {
      digest.update(data: Array("\(part.utf8.count):\(part);".utf8))
    }
    add(call.request.method.rawValue)
    add(call.request.uri.string)
    for name in [HTTPField.Name.ifMatch, .ifNoneMatch, .contentEncoding] { add(call[name] ?? "") }
    let declared = call.request.headers[.contentLength].flatMap { Int($0) }
    if let declared, declared > Self.bodyBytes {
      add("\(declared) bytes")
      return (call, nil, Array(digest.finalize()))
    }
    let body = try await call.sentBody(upTo: Self.bodyBytes)
    digest.update(data: body)
    return (call.having(body), body.count, Array(digest.finalize()))
  }
}

extension Call {
  /// The same call with its body at hand.
  fileprivate func having(_ body: [UInt8]) -> Call {
    var head = request.head
    // The client was told to go on already.
    head.headerFields[.expect] = nil
    let whole = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
    return Call(request: whole, context: context, arguments: arguments, proxies: proxies)
  }

  /// The same call for what goes on when its request is answered.
  /// - Parameter hold: what it holds then.
  func outlasting(holding hold: RequestHold?) -> Call {
    Call(
      request: request, context: context.holding(hold), arguments: arguments, proxies: proxies)
  }
}
