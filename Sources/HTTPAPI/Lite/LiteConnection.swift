import Accounts
import BLIP
import HTTPServer
import LiteSync
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
  /// The bytes of messages for the client from which on no more are made.
  private static let queuedBytes = 128 << 10
  /// The bytes that are written before the client's messages are looked at again.
  private static let writtenBytes = 64 << 10
  /// The bytes of requests, and of checkpoints that they ask for, from which on no more are taken before they are answered:
  /// several long revisions may become complete together, and what is made of one takes ``Call/bodyFactor`` times its bytes.
  private static let answeredBytes = 1 << 20

  private let store: CouchStore
  private let caller: Principal
  private let authentication: Authentication
  private let reservation: RequestReservation?
  private let blip: Mutex<BLIPConnection>
  private let progress: Mutex<Progress?>

  /// How far the session is. The waiting task does not hold it, so that its frames stay small, and a step takes it out, so
  /// that nothing of it is copied when it changes.
  private struct Progress: Sendable {
    var session: LiteSession
    var exchange = LiteExchange()
    /// What has come and is not read yet.
    var frames: ArraySlice<[UInt8]> = []
  }

  init(
    _ session: LiteSession, with store: CouchStore, as caller: Principal,
    authentication: Authentication, reservation: RequestReservation?
  ) {
    (self.store, self.caller, self.authentication) = (store, caller, authentication)
    self.reservation = reservation
    progress = Mutex(Progress(session: session))
    blip = Mutex(BLIPConnection(Limits.blip(store.documentLimits)))
  }

  /// Runs the session until one side ends it. Steps run in child tasks, so that the waiting task keeps little memory.
  @concurrent func run(on socket: WebSocketConnection, _ subscription: Subscription) async throws {
    socket.onArrival { subscription.noteInput() }
    var (code, reason) = (Self.comeBack, "Come back")
    do { try await exchange(socket, subscription) } catch let error as BLIPError
      where error != .outOfMemory
    {
      (code, reason) = (Self.protocolError, error.reason)
    } catch {}
    if socket.isOver, code == Self.comeBack {
      // What fails now the client sends again in its next session.
      try? await inChildTask { try await self.takeRest(of: socket) }
    }
    socket.close(code, reason)
    var last = take()
    await last?.session.end(in: store)
  }

  private func take() -> Progress? { progress.withLock { $0.take() } }

  @concurrent private func exchange(
    _ socket: WebSocketConnection, _ subscription: Subscription
  ) async throws {
    var (hasNews, pings) = (true, LitePings(at: .now))
    while subscription.end == nil, !socket.isOver {
      let isBusy = try await inChildTask { [hasNews] in
        guard var next = self.take() else { return false }
        defer { self.progress.withLock { [next] in $0 = next } }
        if hasNews { next.session.noteNews() }
        return try await self.step(&next, socket, subscription)
      }
      hasNews = false
      // The cost of earlier messages does not count: each is like a request of its own.
      Work.current?.resetCost()
      if isBusy {
        try await Slice.giveWay()
        continue
      }
      switch await subscription.next(by: pings.due(after: socket.lastArrival)) {
      case .news: hasNews = true
      case .input: continue
      case .end: return
      case .due:
        switch pings.step(at: .now, after: socket.lastArrival) {
        case .wait: continue
        case .ask: try await socket.ping()
        case .end: return
        }
      }
    }
  }

  /// Handles what came before the client has closed the connection. Its answers are not sent.
  private func takeRest(of socket: WebSocketConnection) async throws {
    try await authentication.requireStillValid(caller)
    guard var next = take() else { return }
    defer { progress.withLock { [next] in $0 = next } }
    while true {
      if next.frames.isEmpty { next.frames = socket.takeMessages()[...] }
      guard !next.frames.isEmpty else { break }
      _ = try await next.session.answer(try await receive(&next).requests, in: store)
    }
    try await next.session.finishLast(in: store)
    try await authentication.requireStillValid(caller)
  }

  /// Answers what has come, makes more for the client, and writes some of it.
  /// - Returns: whether there may be more to do.
  private func step(
    _ next: inout Progress, _ socket: WebSocketConnection, _ subscription: Subscription
  ) async throws -> Bool {
    if next.frames.isEmpty { next.frames = socket.takeMessages()[...] }
    var (requests, answers) = try await receive(&next)
    let isBusy = !requests.isEmpty
    if isBusy { answers += try await next.session.answer(requests, in: store) }
    var mustCheck = requests.contains(where: \.request.writes)
    requests = []
    var (mayAsk, maySupply, isSearching) = (true, true, false)
    while mayAsk || maySupply, blip.withLock({ $0.queuedBytes }) < Self.queuedBytes {
      if mayAsk {
        let (asked, refused) = try await next.session.next(in: store)
        answers += refused
        blip.withLock { blip in next.exchange.send(asked, to: &blip) }
        mayAsk = !asked.isEmpty || !refused.isEmpty
        isSearching = next.session.isSearching
      }
      if maySupply { maySupply = try await next.exchange.supply(blip, from: store) }
    }
    let finished = try await next.session.finishUploads(in: store)
    mustCheck = mustCheck || !finished.isEmpty
    if mustCheck { try await authentication.requireStillValid(caller) }
    let held = blip.withLock { blip in
      next.exchange.answer(answers + finished, to: &blip)
      return blip.heldBytes + blip.queuedBytes
    }
    try reserve(held + next.session.heldBytes)
    return try await write(to: socket, subscription) || isBusy || isSearching
  }

  /// Takes frames until there are enough requests to answer, and notes the answers among their messages.
  /// - Returns: the requests, and the replies to earlier ones.
  private func receive(
    _ next: inout Progress
  ) async throws -> (requests: [LiteSession.Asked], answers: [LiteSession.Answer]) {
    var (requests, answers): ([LiteSession.Asked], [LiteSession.Answer]) = ([], [])
    var (bytes, answerBytes) = (0, 0)
    while bytes + answerBytes < Self.answeredBytes, let frame = next.frames.popFirst() {
      switch try await read(frame, besides: next.session.heldBytes + bytes * Call.bodyFactor) {
      case .message(let number, let message) where message.kind == .request:
        let request = LiteRequest(message)
        bytes += request.byteCount
        answerBytes += request.answerBytes
        requests.append((number, request))
      case .message(let number, let message):
        guard let token = next.exchange.tokens.removeValue(forKey: number) else { break }
        answers += try await next.session.note(LiteReply(message), to: token, in: store)
      case .part(let number, let part, let isLast):
        guard let token = next.exchange.tokens[number] else { break }
        let received = try await next.session.receive(part, isLast: isLast, to: token, in: store)
        answers += received.answers
        if isLast || !received.isWanted { next.exchange.tokens[number] = nil }
        if !received.isWanted { blip.withLock { $0.withdraw(number) } }
      case nil: break
      }
      let held = blip.withLock { $0.heldBytes }
      try reserve(held + next.session.heldBytes + bytes * Call.bodyFactor)
      try await Slice.giveWay()
    }
    return (requests, answers)
  }

  /// Reads a frame, in slices.
  /// - Parameter count: the bytes that are held besides those of the frames.
  private func read(_ frame: [UInt8], besides count: Int) async throws -> BLIPConnection.Event? {
    try blip.withLock { blip throws(BLIPError) in try blip.receive(frame) }
    var paid = frame.count * Call.mostUnpacked
    while true {
      let (next, held, moved) = try blip.withLock { blip throws(BLIPError) in
        let former = blip.inflatedBytes
        return (try blip.proceed(), blip.heldBytes, blip.inflatedBytes - former)
      }
      // What a device packs costs as much as what it does not pack.
      Work.current?.addMovedBytes(min(moved, paid))
      paid -= min(moved, paid)
      if next.isRead { return next.event }
      try reserve(held + count)
      try await Slice.giveWay()
    }
  }

  /// Accounts for the memory of messages until they are answered.
  /// - Throws: `overloaded`.
  private func reserve(_ count: Int) throws {
    reservation?.releaseBody()
    guard let reservation, count > RequestReservation.freeBytes else { return }
    guard reservation.reserveBody(count) else {
      throw ServiceError(.overloaded, "There is no memory for the messages")
    }
  }

  /// Writes frames until the client has to acknowledge some, or there was enough for one step.
  private func write(
    to socket: WebSocketConnection, _ subscription: Subscription
  ) async throws -> Bool {
    let frames = blip.withLock { blip in
      var (frames, count): ([[UInt8]], Int) = ([], 0)
      while count < Self.writtenBytes, let frame = blip.nextFrame() {
        frames.append(frame)
        count += frame.count
      }
      Work.current?.addMovedBytes(count)
      return frames
    }
    guard !frames.isEmpty, subscription.end == nil else { return false }
    subscription.note(isWriting: true)
    defer { subscription.note(isWriting: false) }
    try await socket.write(frames)
    return true
  }
}
