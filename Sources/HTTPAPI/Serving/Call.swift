import Accounts
import Compression
import Documents
import HTTPServer
import HTTPTypes
package import Hummingbird
import IPAddresses
import JSON
import Lanes
package import Logging
package import NIOCore
import Stores

/// A request as a handler sees it.
struct Call: Sendable {
  /// The request.
  let request: Request
  /// What travels with it.
  let context: CallContext
  /// What the path has for its parameters.
  let arguments: PathArguments
  /// Whose word on the caller's address is taken.
  var proxies = TrustedProxies()

  /// A header field's value.
  subscript(name: HTTPField.Name) -> String? { request.headers.value(of: name) }

  /// A path parameter, percent-decoded once. Below `/couch`, as in CouchDB, `+` is a space, but for the name of a
  /// database, which has none.
  /// - Throws: ``Problem`` 400 when it can't be decoded.
  func parameter(_ name: String) throws(Problem) -> String {
    guard let encoded = arguments[name] else { throw .notFound }
    // The target's bytes were checked: without escapes they are what they stand for.
    guard encoded.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") })
    else { return encoded }
    let plusIsSpace = name != "db" && Problem.Dialect(path: request.uri.path) == .couch
    return try RequestTarget.decode(encoded.utf8, plusIsSpace: plusIsSpace, what: "The path")
  }

  /// The query, of which only these names may be given.
  func query(_ known: String...) throws(Problem) -> QueryParameters {
    try QueryParameters(request.uri.query, known: known)
  }

  /// How many bytes may be unpacked of one, beyond ``RequestHold/freeBytes``.
  static let mostUnpacked = 100
  /// How much memory a body is accounted for, in times its unpacked bytes: the bytes themselves, at most two times as
  /// much for what is kept of them to find values, and what is made of those.
  static let bodyFactor = 4

  /// The whole body, unpacked if it came as gzip. It is accounted for with all that is made of it.
  /// - Parameter limit: the bytes that it may have, packed as well as unpacked.
  /// - Throws: ``Problem`` 413 when it is larger than `limit` bytes, or unpacks to more than ``mostUnpacked`` times
  ///   its bytes; 415 for another coding than gzip; 400 for one that can't be unpacked; 503 where there is no memory
  ///   for it.
  func body(upTo limit: Int) async throws -> [UInt8] {
    let coding = try ContentCoding(self)
    let sent = try await sentBody(upTo: limit)
    guard coding == .gzip else {
      try hold(sent, taken: sent.count)
      return sent
    }
    let (bytes, taken) = try await unpack(sent, upTo: limit)
    try hold(bytes, taken: taken)
    return bytes
  }

  /// Unpacks a body, in as much room as is accounted for: four times as much whenever that did not do.
  /// - Returns: besides, the bytes that are accounted for.
  private func unpack(
    _ packed: [UInt8], upTo limit: Int
  ) async throws -> (bytes: [UInt8], taken: Int) {
    let most = max(RequestHold.freeBytes, packed.count * Self.mostUnpacked)
    do {
      let reader = try GzipReader(packed, limit: min(limit, most))
      var (room, taken) = (RequestHold.freeBytes, 0)
      while !reader.isComplete {
        if reader.unpacked.count + GzipReader.pieceBytes > room, room < limit {
          room = min(limit + 1, room * 4)
          try take(room - taken)
          taken = room
          reader.reserve(room)
        }
        try reader.unpackPiece()
        try await Slice.giveWay()
      }
      return (reader.unpacked, taken)
    } catch CompressionError.tooLarge where most < limit {
      throw Self.unpacksToTooMuch
    } catch let error as CompressionError {
      throw Self.problem(error, limit)
    }
  }

  /// Accounts for what will be made of a body.
  /// - Parameter taken: the bytes that are accounted for already.
  private func hold(_ body: [UInt8], taken: Int) throws(Problem) {
    guard body.count > RequestHold.freeBytes else { return }
    try take(Self.bodyFactor * body.count - taken)
  }

  /// Accounts for what stays in memory of a body that is taken as it comes.
  /// - Parameter held: how much of it is accounted for, at its end how much is then.
  /// - Throws: ``Problem`` 503 where there is no memory for it.
  func hold(_ bytes: Int, beyond held: inout Int) throws(Problem) {
    let wanted = Self.bodyFactor * bytes
    guard bytes > RequestHold.freeBytes, wanted > held else { return }
    try take(wanted - held)
    held = wanted
  }

  private func take(_ bytes: Int) throws(Problem) {
    guard context.hold?.take(bytes) ?? true else { throw Problem(.overloaded) }
  }

  /// The answer to a body that unpacks to more than ``mostUnpacked`` times its bytes.
  static let unpacksToTooMuch = Problem(
    .contentTooLarge, "too_large", "The body may unpack to at most \(mostUnpacked) times its bytes")

  /// The answer to a body that can't be unpacked.
  /// - Parameter limit: the bytes that it may have; nil where only ``mostUnpacked`` bounds them.
  static func problem(_ error: CompressionError, _ limit: Int? = nil) -> Problem {
    switch error {
    case .tooLarge: limit.map(tooLarge) ?? unpacksToTooMuch
    case .malformed: malformedGzip
    case .outOfMemory:
      Problem(.serviceUnavailable, "unavailable", "The body can't be unpacked now", retryAfter: 1)
    }
  }

  /// The answer to a body that is not what its `Content-Encoding` says.
  static let malformedGzip = Problem(
    .badRequest, "bad_request", "The body is no gzip, or not all of it")

  /// The body as it comes, of any length, unpacked if it came as gzip: whoever takes it bounds it by what it is, and
  /// accounts for what stays of it (``hold(_:beyond:)``).
  /// - Throws: ``Problem`` 415 for another coding than gzip, 417.
  func bodyAsItComes() throws(Problem) -> StreamedBody {
    let coding = try ContentCoding(self)
    try wantBody()
    context.channel.triggerUserOutboundEvent(BodyTakenAsItComes(), promise: nil)
    return StreamedBody(request.body, coding)
  }

  /// Gives a client that waits for it leave to send its body.
  private func wantBody() throws(Problem) {
    guard let expectation = request.headers[.expect] else { return }
    guard expectation.trimmingSpaces.lowercased() == "100-continue" else {
      throw Problem(
        .expectationFailed, "invalid_header", "Expect must be 100-continue or absent")
    }
    context.channel.triggerUserOutboundEvent(BodyWanted(), promise: nil)
  }

  /// The whole body as it was sent.
  /// - Throws: ``Problem`` 413 when it is larger than `limit` bytes.
  func sentBody(upTo limit: Int) async throws -> [UInt8] {
    if let declared = request.headers[.contentLength].flatMap({ Int($0) }), declared > limit {
      throw Self.tooLarge(limit)
    }
    try wantBody()
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
    try await json(try await body(upTo: limits.maximumBytes), limits)
  }

  /// A body that was read, as JSON.
  /// - Throws: ``Problem`` 415 for another content type, ``JSONError`` for what the parser refuses.
  func json(_ bytes: [UInt8], _ limits: JSONLimits) async throws -> JSONNode {
    try requireJSON()
    return try await Self.parsed(bytes, limits)
  }

  /// A text as JSON; gives way to others between its parts.
  /// - Throws: ``JSONError``.
  static func parsed(_ bytes: [UInt8], _ limits: JSONLimits) async throws -> JSONNode {
    var reader = JSONReader(bytes, limits: limits)
    while true {
      if let parsed = try reader.next() { return parsed.root }
      try await Slice.giveWay()
    }
  }

  /// Whether an `Origin` is this server's own, as the request names it.
  func isOwn(_ origin: String) -> Bool {
    guard let authority = request.head.authority else { return false }
    return ["http://" + authority, "https://" + authority].contains { $0.equalsBytes(of: origin) }
  }

  /// Who the request comes from, for limits on attempts.
  var address: ClientAddress {
    proxies.caller(peer: context.remoteAddress?.ipAddress, forwarded: self[.xForwardedFor])
  }

  /// JSON is UTF-8 (RFC 8259, section 8.1); a body without a type is taken for JSON.
  /// - Throws: ``Problem`` 415 for another content type.
  func requireJSON() throws(Problem) {
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
  /// The text as one segment of a path: everything but RFC 3986's unreserved bytes percent-encoded, and dots that would
  /// lead elsewhere.
  var urlSegment: String {
    if utf8.count <= 2, utf8.allSatisfy({ $0 == 0x2E }) {
      return String(repeating: "%2E", count: utf8.count)
    }
    return PathSegment.encode(self)
  }
}

/// What travels with a request: its connection and where it is logged.
package struct CallContext: InitializableFromSource {
  /// The log.
  package let logger: Logger
  /// The connection.
  package let channel: any Channel
  /// What the request holds; nil where nothing is accounted for, as in tests without a socket.
  private(set) var hold: RequestHold?

  /// Made for each request, by Hummingbird or for an HTTP/1 connection.
  package init(source: ApplicationRequestContextSource) {
    logger = source.logger
    channel = source.channel
  }

  /// The same for a request that holds something.
  func holding(_ hold: RequestHold?) -> CallContext {
    var context = self
    context.hold = hold
    return context
  }

  /// The peer's address; nil for a pipe, as in tests without a socket.
  var remoteAddress: SocketAddress? { channel.remoteAddress }
}
