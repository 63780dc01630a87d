import Crypto
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import Stores

/// The options of a write: an idempotency key, and an answer before the write is done.
///
/// Sources: IETF draft "The Idempotency-Key HTTP Header Field"; RFC 7240, section 4.1.
struct WriteOptions: Sendable {
  /// The name under which the answer is kept, 32 hex digits: the digest of the key, or a random number without one.
  let token: String
  /// Whether the request has a key.
  let hasKey: Bool
  /// Whether the client prefers not to wait.
  let isAsync: Bool

  /// Reads the header fields; nil for a request without these options.
  /// - Throws: ``Problem`` 400 for an invalid key.
  init?(_ call: Call) throws(Problem) {
    let key = call[.idempotencyKey]
    isAsync = call[.prefer].map(Self.prefersAsync) ?? false
    hasKey = key != nil
    guard let key else {
      guard isAsync else { return nil }
      token = Hex.random()
      return
    }
    guard (1...StoreLimits.receiptKeyBytes).contains(key.utf8.count) else {
      throw Problem.invalidHeader(
        "Idempotency-Key must have 1 to \(StoreLimits.receiptKeyBytes) bytes")
    }
    token = Hex.string(Array(SHA256.hash(data: Array(key.utf8))).prefix(16))
  }

  /// Whether `respond-async` is among the preferences, whose names are case-insensitive.
  private static func prefersAsync(_ field: String) -> Bool {
    field.lowercased().split(separator: ",").contains { preference in
      preference.split(separator: ";").first.map { $0.trimmingSpaces } == "respond-async"
    }
  }

  /// The limit of bodies that are read before the write begins, in bytes: that of a batch. Of a longer body with a
  /// declared length only this length becomes part of the digest.
  static let bodyBytes = JSONLimits.document.maximumBytes

  /// Reads the request's body, unless its declared length is over the limit.
  /// - Returns: the call with its body, the number of bytes (nil for a body that was not read), and a digest of the
  ///   method, the target, the conditions and the body, which identifies the request.
  /// - Throws: ``Problem`` 413 for a body of unknown length that is too long.
  func read(_ call: Call) async throws -> (call: Call, bodyBytes: Int?, digest: [UInt8]) {
    var digest = SHA256()
    func add(_ part: String) { digest.update(data: Array("\(part.utf8.count):\(part);".utf8)) }
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
  /// The same call with a body that was read.
  fileprivate func having(_ body: [UInt8]) -> Call {
    var head = request.head
    // The client was already told to send its body.
    head.headerFields[.expect] = nil
    var call = self
    call.request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
    return call
  }

  /// The same call for work that continues after its answer.
  /// - Parameter reservation: the memory for that work.
  func detached(reservation: RequestReservation?) -> Call {
    var call = self
    call.context.reservation = reservation
    return call
  }
}
