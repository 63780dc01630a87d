import Accounts
import BLIP
import HTTPServer
import LiteSync
import NIOCore
import Scheduling
import Stores
import Synchronization

/// A session of Couchbase Lite over its connection: reads the client's messages, and writes the server's no faster than the
/// client takes them. It holds neither a lease nor a seat while it waits.
///
/// A client stops for good after most codes that close a WebSocket, and comes back after ``comeBack`` and after a broken
/// connection. If its right has ended, it then learns that from the status of its next request.
final class LiteConnection: Sendable {
  /// The code after which a client comes back.
  private static let comeBack = 4_001
  /// The code for a client that breaks the rules of the protocol.
  private static let protocolError = 1_002
  /// How long a connection may be silent before the client is asked whether it is there. Proxies close a connection that
  /// was silent for 60 seconds.
  private static let silence = Duration.seconds(50)
  /// How often a client may leave that question without an answer.
  private static let unansweredPings = 2
  /// The bytes of messages for the client from which on no more are made.
  private static let queuedBytes = 128 << 10
  /// The bytes that are written before the client's messages are looked at again.
  private static let writtenBytes = 64 << 10

  private let store: CouchStore
  private let caller: Principal
  private let authentication: Authentication
  private let reservation: RequestReservation?
  private let blip: Mutex<BLIPConnection>
  private let first: State

  /// How far the session is. Behind a reference, so that the frames of the waiting task stay small.
  private final class State: Sendable {
    let session: LiteSession
    /// What the answers to the server's requests are about, by the numbers of the requests.
    let tokens: [UInt64: Int]

    init(_ session: LiteSession, _ tokens: [UInt64: Int] = [:]) {
      (self.session, self.tokens) = (session, tokens)
    }
  }

  init(
    _ session: LiteSession, with store: CouchStore, as caller: Principal,
    authentication: Authentication, reservation: RequestReservation?
  ) {
    (self.store, self.caller, self.authentication) = (store, caller, authentication)
    self.reservation = reservation
    first = State(session)
    blip = Mutex(BLIPConnection(Limits.blip(store.documentLimits)))
  }

  /// Runs the session until one side ends it. Steps run in child tasks, so that the waiting task keeps little memory.
  @concurrent func run(on socket: WebSocketConnection, _ subscription: Subscription) async throws {
    socket.onArrival { subscription.noteInput() }
    do {
      try await exchange(socket, subscription)
      socket.close(Self.comeBack, "Come back")
    } catch let error as BLIPError {
      socket.close(Self.protocolError, error.reason)
    } catch {
      socket.close(Self.comeBack, "Come back")
    }
  }

  @concurrent private func exchange(
    _ socket: WebSocketConnection, _ subscription: Subscription
  ) async throws {
    var (state, hasNews, pings) = (first, true, 0)
    while subscription.end == nil, !socket.isOver {
      let isBusy: Bool
      (state, isBusy) = try await inChildTask { [state, hasNews] in
        try await self.step(state, socket, subscription, hasNews: hasNews)
      }
      hasNews = false
      if isBusy {
        pings = 0
        try await Slice.giveWay()
        continue
      }
      switch await subscription.next(by: .now + Self.silence) {
      case .news: hasNews = true
      case .input: pings = 0
      case .end: return
      case .due:
        guard socket.lastArrival + Self.silence <= .now else { continue }
        guard pings < Self.unansweredPings else { return }
        pings += 1
        try await socket.ping()
      }
      // The cost of earlier messages does not count: each is like a request of its own.
      Work.current?.resetCost()
    }
  }

  /// Answers what has come, makes more for the client, and writes some of it.
  /// - Returns: whether there may be more to do.
  private func step(
    _ state: State, _ socket: WebSocketConnection, _ subscription: Subscription, hasNews: Bool
  ) async throws -> (State, isBusy: Bool) {
    var (session, tokens) = (state.session, state.tokens)
    if hasNews { session.noteNews() }
    let requests = try await receive(socket.takeMessages(), &session, &tokens)
    if !requests.isEmpty {
      let replies = try await session.answer(requests.map(\.request), in: store)
      if requests.contains(where: \.request.writes) {
        try await authentication.requireStillValid(caller)
      }
      blip.withLock { blip in
        for (request, reply) in zip(requests, replies) {
          blip.answer(request.number, BLIPMessage(reply))
        }
      }
    }
    reservation?.releaseBody()
    while blip.withLock({ $0.queuedBytes }) < Self.queuedBytes {
      let next = try await session.next(in: store)
      guard !next.isEmpty else { break }
      for outgoing in next {
        let number = blip.withLock { $0.send(BLIPMessage(outgoing.request)) }
        tokens[number] = outgoing.token
      }
    }
    let hasWritten = try await write(to: socket, subscription)
    return (State(session, tokens), !requests.isEmpty || hasWritten)
  }

  /// Takes frames, and notes the answers among their messages.
  /// - Returns: the requests, with their numbers.
  private func receive(
    _ frames: [[UInt8]], _ session: inout LiteSession, _ tokens: inout [UInt64: Int]
  ) async throws -> [(number: UInt64, request: LiteRequest)] {
    var requests: [(number: UInt64, request: LiteRequest)] = []
    var bytes = 0
    for frame in frames {
      Work.current?.addMovedBytes(frame.count)
      let (received, held) = try blip.withLock { blip throws(BLIPError) in
        (try blip.receive(frame), blip.heldBytes)
      }
      if let (number, message) = received {
        if message.kind == .request {
          bytes += message.body.count
          requests.append((number, LiteRequest(message)))
        } else if let token = tokens.removeValue(forKey: number) {
          try session.note(LiteReply(message), to: token)
        }
      }
      try reserve(held + bytes * Call.bodyFactor)
      try await Slice.giveWay()
    }
    return requests
  }

  /// Accounts for the memory of messages until they are answered.
  /// - Throws: `overloaded`.
  private func reserve(_ count: Int) throws {
    guard let reservation, count > RequestReservation.freeBytes else { return }
    reservation.releaseBody()
    guard reservation.reserveBody(count) else {
      throw ServiceError(.overloaded, "There is no memory for the messages")
    }
  }

  /// Writes frames until the client has to acknowledge some, or there was enough for one step.
  private func write(
    to socket: WebSocketConnection, _ subscription: Subscription
  ) async throws -> Bool {
    var (socket, count) = (socket, 0)
    while count < Self.writtenBytes, subscription.end == nil,
      let frame = blip.withLock({ $0.nextFrame() })
    {
      count += frame.count
      Work.current?.addMovedBytes(frame.count)
      subscription.note(isWriting: true)
      defer { subscription.note(isWriting: false) }
      try await socket.write(ByteBuffer(bytes: frame))
    }
    return count > 0
  }
}

extension LiteRequest {
  /// Whether it changes the store.
  fileprivate var writes: Bool { profile == "rev" || profile == "setCheckpoint" }

  fileprivate init(_ message: BLIPMessage) {
    var properties: [String: String] = [:]
    for (name, value) in message.properties.all { properties[name] = value }
    self.init(
      properties.removeValue(forKey: "Profile") ?? "", properties, body: message.body,
      isNoReply: message.isNoReply)
  }
}

extension LiteReply {
  fileprivate init(_ message: BLIPMessage) {
    var properties: [String: String] = [:]
    for (name, value) in message.properties.all { properties[name] = value }
    guard message.kind == .error else {
      self.init(properties, body: message.body)
      return
    }
    self.init(
      error: LiteError(
        properties["Error-Domain"] ?? "", properties["Error-Code"].flatMap { Int($0) } ?? 0, ""))
  }
}

extension BLIPMessage {
  fileprivate init(_ request: LiteRequest) {
    var properties: BLIPProperties = ["Profile": request.profile]
    for (name, value) in request.properties { properties[name] = value }
    self.init(.request, properties, body: request.body, isNoReply: request.isNoReply)
  }

  fileprivate init(_ reply: LiteReply) {
    if let error = reply.error {
      self.init(
        .error, ["Error-Domain": error.domain, "Error-Code": String(error.code)],
        body: Array(error.reason.utf8))
    } else {
      var properties = BLIPProperties()
      for (name, value) in reply.properties { properties[name] = value }
      self.init(.answer, properties, body: reply.body)
    }
  }
}
