import BLIP
import CouchSync
import DequeModule
import LiteSync
import Stores
import Synchronization

/// What is on its way between a session and its client: the server's requests, and attachments for the client.
struct LiteExchange: Sendable {
  /// The most attachments that are sent at the same time. Of each up to 64 KiB are held, even for a client that
  /// acknowledges nothing.
  static let attachmentsAtOnce = 16

  /// An attachment that is being sent.
  private struct Sending: Sendable {
    let facts: AttachmentFacts
    var offset: Int64 = 0
  }

  /// What the answers to the server's requests are about, by the numbers of the requests.
  var tokens: [UInt64: LiteSession.Token] = [:]
  /// By the numbers of the client's requests.
  private var sending: [UInt64: Sending] = [:]
  private var waiting: Deque<(number: UInt64, facts: AttachmentFacts)> = []

  /// Sends requests.
  mutating func send(_ requests: [LiteSession.Outgoing], to blip: inout BLIPConnection) {
    for outgoing in requests {
      let number = blip.send(BLIPMessage(outgoing.request), streamsAnswer: outgoing.isStreamed)
      tokens[number] = outgoing.token
    }
  }

  /// Answers requests. An attachment waits while many are being sent.
  mutating func answer(_ answers: [LiteSession.Answer], to blip: inout BLIPConnection) {
    for (number, reply) in answers {
      if let facts = reply.attachment {
        waiting.append((number, facts))
      } else {
        blip.answer(number, BLIPMessage(reply))
      }
    }
    beginNext(to: &blip)
  }

  private mutating func beginNext(to blip: inout BLIPConnection) {
    while sending.count < Self.attachmentsAtOnce, let (number, facts) = waiting.popFirst() {
      blip.answer(number, BLIPMessage(.answer), following: facts.length)
      if facts.length > 0 { sending[number] = Sending(facts: facts) }
    }
  }

  /// Supplies the next bytes of an attachment that the client has room for.
  /// - Returns: whether there is one.
  /// - Throws: the errors of the store; `integrity` for an attachment that is gone. The session can't continue then,
  ///   because its answer has begun.
  mutating func supply(
    _ blip: borrowing Mutex<BLIPConnection>, from store: CouchStore
  ) async throws -> Bool {
    guard let number = blip.withLock({ $0.wanting }), var next = sending[number] else {
      return false
    }
    let bytes =
      try await store.read { [next] database in
        try await database.bytes(next.offset..<next.facts.length, of: next.facts)
      }.first ?? []
    next.offset += Int64(bytes.count)
    sending[number] = next.offset < next.facts.length ? next : nil
    blip.withLock { $0.supply(bytes, to: number) }
    if sending[number] == nil { blip.withLock { beginNext(to: &$0) } }
    return true
  }
}

extension LiteRequest {
  /// Whether it changes the store.
  var writes: Bool { profile == "rev" || profile == "setCheckpoint" }

  init(_ message: BLIPMessage) {
    var properties = message.properties
    self.init(
      properties.removeValue(forKey: "Profile") ?? "", properties, body: message.body,
      isNoReply: message.isNoReply, isTooLong: message.isTooLong)
  }
}

extension LiteReply {
  init(_ message: BLIPMessage) {
    let properties = message.properties
    guard message.kind == .error else {
      self.init(properties, body: message.body)
      return
    }
    self.init(
      // What is left out has these values: BLIP Protocol, section 1.2.
      error: LiteError(
        properties["Error-Domain"] ?? "BLIP", properties["Error-Code"].flatMap { Int($0) } ?? 599,
        ""))
  }
}

extension BLIPMessage {
  fileprivate init(_ request: LiteRequest) {
    var properties = request.properties
    properties["Profile"] = request.profile
    self.init(.request, properties, body: request.body, isNoReply: request.isNoReply)
  }

  fileprivate init(_ reply: LiteReply) {
    if let error = reply.error {
      self.init(
        .error, ["Error-Domain": error.domain, "Error-Code": String(error.code)],
        body: Array(error.reason.utf8))
    } else {
      self.init(.answer, reply.properties, body: reply.body)
    }
  }
}
