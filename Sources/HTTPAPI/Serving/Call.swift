import Documents
import HTTPServer
import HTTPTypes
package import Hummingbird
import IPAddresses
package import Logging
package import NIOCore
import Scheduling
import Stores

/// A request in the form that handlers use.
struct Call: Sendable {
  var request: Request
  /// The connection and the log of the request.
  var context: CallContext
  /// The values of the path's parameters.
  let arguments: PathArguments
  /// The dialect of the route.
  let dialect: Problem.Dialect
  /// What decides its writes besides their rules.
  var writeContext: WriteContext
  /// The proxies whose `X-Forwarded` fields are believed.
  var proxies = TrustedProxies()

  /// A header field's value.
  subscript(name: HTTPField.Name) -> String? { request.headers.value(of: name) }

  /// A path parameter, percent-decoded once. As in CouchDB, `+` is a space in its dialect, except in the name of a
  /// database, which has no spaces.
  /// - Throws: ``Problem`` 400 for a parameter that can't be decoded.
  func parameter(_ name: String) throws(Problem) -> String {
    guard let encoded = arguments[name] else { throw .notFound }
    // The target's bytes were checked: without `%` and `+` nothing needs decoding.
    guard encoded.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") })
    else { return encoded }
    let plusIsSpace = name != "db" && dialect == .couch
    return try RequestTarget.decode(encoded.utf8, plusIsSpace: plusIsSpace, what: "The path")
  }

  /// The query, which may have only these names.
  func query(_ known: String...) throws(Problem) -> QueryParameters {
    try QueryParameters(request.uri.query, known: known)
  }

  /// How many times its own bytes a gzip body may unpack to; ``RequestReservation/freeBytes`` are allowed in any case.
  static let mostUnpacked = 100
  /// How often the unpacked bytes of a body are counted as memory: once for the bytes themselves, at most twice for the
  /// index that finds values in them, and once for what is made of the values.
  static let bodyFactor = 4

  /// The whole body, unpacked if it is gzip. Its memory is accounted for, with all that is made of it.
  /// - Parameter limit: the maximum of bytes, packed as well as unpacked.
  /// - Throws: ``Problem`` 413 for more than `limit` bytes, or for one that unpacks to more than ``mostUnpacked`` times
  ///   its bytes; 415 for another coding than gzip; 400 for invalid gzip; 503 if there is no memory for it.
  func body(upTo limit: Int) async throws -> [UInt8] {
    let coding = try ContentCoding(self)
    let sent = try await sentBody(upTo: limit)
    guard coding == .gzip else {
      try reserve(sent, reserved: sent.count)
      return sent
    }
    let (bytes, reserved) = try await unpack(sent, upTo: limit)
    try reserve(bytes, reserved: reserved)
    return bytes
  }

  /// Unpacks a body. The buffer that is accounted for becomes four times as large whenever it is too small.
  /// - Returns: the unpacked bytes, and how many bytes are accounted for.
  private func unpack(
    _ packed: [UInt8], upTo limit: Int
  ) async throws -> (bytes: [UInt8], reserved: Int) {
    let most = max(RequestReservation.freeBytes, packed.count * Self.mostUnpacked)
    do {
      let reader = try GzipReader(packed, limit: min(limit, most))
      var (capacity, reserved) = (RequestReservation.freeBytes, 0)
      while !reader.isComplete {
        if reader.unpacked.count + GzipReader.pieceBytes > capacity, capacity < limit {
          capacity = min(limit + 1, capacity * 4)
          try reserve(capacity - reserved)
          reserved = capacity
          reader.reserve(capacity)
        }
        try reader.unpackPiece()
        try await Slice.giveWay()
      }
      return (reader.unpacked, reserved)
    } catch CompressionError.tooLarge where most < limit {
      throw Self.unpacksToTooMuch
    } catch let error as CompressionError {
      throw Self.problem(error, limit)
    }
  }

  /// Accounts for what will be made of a body.
  /// - Parameter reserved: the bytes that are already accounted for.
  private func reserve(_ body: [UInt8], reserved: Int) throws(Problem) {
    guard body.count > RequestReservation.freeBytes else { return }
    try reserve(Self.bodyFactor * body.count - reserved)
  }

  /// Accounts for the part of a streamed body that stays in memory.
  /// - Parameter reserved: the bytes that are accounted for, before and after the call.
  /// - Throws: ``Problem`` 503 if there is no memory for it.
  func reserve(_ bytes: Int, beyond reserved: inout Int) throws(Problem) {
    let wanted = Self.bodyFactor * bytes
    guard bytes > RequestReservation.freeBytes, wanted > reserved else { return }
    try reserve(wanted - reserved)
    reserved = wanted
  }

  private func reserve(_ bytes: Int) throws(Problem) {
    guard context.reservation?.reserveBody(bytes) ?? true else { throw Problem(.overloaded) }
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
  static let malformedGzip = Problem.badRequest("The body is no gzip, or not all of it")

  /// The body as a stream of any length, unpacked if it comes as gzip. The caller limits it and accounts for the part
  /// that stays in memory (``reserve(_:beyond:)``).
  /// - Parameter limit: the most bytes that gzip unpacks to; without it ``mostUnpacked`` bounds them.
  /// - Throws: ``Problem`` 415 for another coding than gzip, 417 for an unknown expectation.
  func streamedBody(unpackingTo limit: Int? = nil) throws(Problem) -> StreamedBody {
    let coding = try ContentCoding(self)
    try wantBody()
    context.channel.triggerUserOutboundEvent(RequestEvent.bodyStreamingStarted, promise: nil)
    return StreamedBody(request.body, coding, unpackingTo: limit)
  }

  /// Tells a client that waits with its body to send it.
  private func wantBody() throws(Problem) {
    guard let expectation = request.headers[.expect] else { return }
    guard expectation.trimmingSpaces.lowercased() == "100-continue" else {
      throw Problem(.expectationFailed, "invalid_header", "Expect must be 100-continue or absent")
    }
    context.channel.triggerUserOutboundEvent(RequestEvent.bodyWanted, promise: nil)
  }

  /// The whole body as it was sent.
  /// - Throws: ``Problem`` 413 for more than `limit` bytes.
  func sentBody(upTo limit: Int) async throws -> [UInt8] {
    if let declared = request.headers[.contentLength].flatMap({ Int($0) }), declared > limit {
      throw Self.tooLarge(limit)
    }
    try wantBody()
    do {
      let buffer = try await Work.waiting({
        try await request.body.collect(upTo: limit)
      })
      return Array(buffer.readableBytesView)
    } catch is NIOTooManyBytesError {
      throw Self.tooLarge(limit)
    }
  }

  /// The body as JSON.
  /// - Throws: ``Problem`` 413; 415 for another content type; 400 for invalid JSON.
  func json(_ limits: JSONLimits) async throws -> JSONNode {
    try await json(try await body(upTo: limits.maximumBytes), limits)
  }

  /// A body that was read, as JSON.
  /// - Parameter isNamed: whether its type has to be named.
  /// - Throws: ``Problem`` 415 for another content type, ``JSONError`` for invalid JSON.
  func json(
    _ bytes: [UInt8], _ limits: JSONLimits, isNamed: Bool = false
  ) async throws -> JSONNode {
    try requireJSON(isAbsent: bytes.isEmpty, isNamed: isNamed)
    return try await Self.parsed(bytes, limits)
  }

  /// Parses JSON in slices, between which other work may run.
  /// - Throws: ``JSONError``.
  static func parsed(_ bytes: [UInt8], _ limits: JSONLimits) async throws -> JSONNode {
    var reader = JSONReader(bytes, limits: limits)
    while true {
      if let parsed = try reader.next() { return parsed.root }
      try await Slice.giveWay()
    }
  }

  /// The address of the caller, for limits on attempts.
  var address: ClientAddress {
    proxies.caller(peer: context.remoteAddress?.ipAddress, forwarded: self[.xForwardedFor])
  }

  /// What a trusted proxy says about the request that it passes on: the last element of a field, because a client can
  /// forge those before it.
  func forwarded(_ name: HTTPField.Name) -> String? {
    guard proxies.contains(context.remoteAddress?.ipAddress) else { return nil }
    return self[name]?.split(separator: ",").last.map { String($0.trimmingSpaces) }
  }

  /// The device of the caller.
  var device: DeviceLabel? { DeviceLabel(name: self[.deviceName], agent: self[.userAgent]) }

  /// Checks that the content type is JSON in UTF-8 (RFC 8259, section 8.1).
  /// - Parameter isAbsent: whether there is no body.
  /// - Parameter isNamed: whether it has to be named, even without a body. Else a body without a type counts as JSON, but
  ///   not from a page: a browser sends such a body to any server, without a preflight.
  /// - Throws: ``Problem`` 415 for another content type.
  func requireJSON(isAbsent: Bool = false, isNamed: Bool = false) throws(Problem) {
    guard let type = request.headers[.contentType] else {
      if !isNamed, isAbsent || self[.origin] == nil { return }
      throw Self.notJSON
    }
    let parts = type.lowercased().split(separator: ";").map { $0.trimmingSpaces }
    let charset = parts.dropFirst().first { $0.hasPrefix("charset=") }?.dropFirst(8)
      .filter { $0 != "\"" }
    guard parts.first == "application/json" || parts.first?.hasSuffix("+json") == true,
      charset.map({ ["utf-8", "utf8", "us-ascii"].contains($0) }) ?? true
    else { throw Self.notJSON }
  }

  private static let notJSON = Problem(
    .unsupportedMediaType, "bad_content_type", "Content-Type must be application/json in UTF-8")

  /// The answer to a body of more than `limit` bytes.
  static func tooLarge(_ limit: Int) -> Problem {
    Problem(.contentTooLarge, "too_large", "The body must be at most \(limit) bytes")
  }
}

extension String {
  /// The text as one segment of a path.
  package var urlSegment: String { PathSegment.encode(self) }
}

/// The context of a request: its connection and its log.
package struct CallContext: InitializableFromSource {
  /// The log.
  package let logger: Logger
  /// The connection.
  package let channel: any Channel
  /// The memory and the slot of the request; nil if nothing is accounted for, as in tests without a socket.
  var reservation: RequestReservation?
  /// Whether the request came over the control socket, so that its sender counts as the administrator.
  var isFromControlSocket = false
  /// Whether the request came to the port whose root is `/couch`.
  var hasCouchAtRoot = false

  /// Made for each request, by Hummingbird or by an HTTP/1 connection.
  package init(source: ApplicationRequestContextSource) {
    logger = source.logger
    channel = source.channel
  }

  /// The peer's address; nil for a pipe, as in tests without a socket.
  var remoteAddress: SocketAddress? { channel.remoteAddress }
}
