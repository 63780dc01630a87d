/// One end of a connection that speaks BLIP 3: frames in, messages out, and the reverse. A value that knows no socket.
///
/// A message is divided into frames, and the frames of several messages alternate. Each direction has one checksum and one
/// stream of compressed bytes over all of its frames. This end compresses nothing, and inflates what the peer compresses.
/// Source: `couchbase/couchbase-lite-core`, "BLIP Protocol, version 3".
package struct BLIPConnection: ~Copyable {
  /// What a frame of the peer leads to.
  package enum Event: Sendable {
    /// A message is complete. An answer has the number of its request.
    case message(UInt64, BLIPMessage)
    /// Some of an answer's body has come, which is passed on part by part.
    case part(UInt64, [UInt8], isLast: Bool)
  }

  private var incoming: IncomingMessages
  private var outgoing = OutgoingMessages()
  private var checksum = RunningChecksum()
  /// Nil until the peer sends the first compressed frame: it takes 40 KiB.
  private var inflater: InflateStream?
  /// The bytes of the peer's messages so far, inflated.
  package private(set) var inflatedBytes = 0
  private var lastRequest: UInt64 = 0
  /// The requests of this end whose answers are not complete, and whether they are passed on part by part.
  private var awaited: [UInt64: Bool] = [:]
  /// The requests of the peer that have no answer yet.
  private var unanswered: Set<UInt64> = []

  /// A connection without messages.
  package init(_ limits: BLIPLimits) { incoming = IncomingMessages(limits) }

  /// Takes a frame of the peer.
  /// - Returns: what it completes; nil for nothing.
  /// - Throws: `malformed`, `tooLarge`, `outOfMemory`; then the connection can't continue.
  package mutating func receive(_ frame: [UInt8]) throws(BLIPError) -> Event? {
    var rest = frame[...]
    let head = try FrameHead(&rest)
    switch head.content {
    case .acknowledgement(let ofRequest):
      let count = try Varint.read(&rest)
      try outgoing.noteAcknowledged(head.number, ofRequest: ofRequest, count)
      return nil
    case .part(let kind): return try receive(rest, head, kind)
    }
  }

  private mutating func receive(
    _ rest: ArraySlice<UInt8>, _ head: FrameHead, _ kind: BLIPMessage.Kind
  ) throws(BLIPError) -> Event? {
    guard rest.count >= 4 else { throw .malformed("A frame has no checksum") }
    let key = IncomingMessages.Key(number: head.number, isRequest: kind == .request)
    let isStreamed = kind == .request ? false : awaited[head.number]
    var message = try incoming.take(
      key, head, kind, isStreamed.map { $0 ? .streamed(hasProperties: false) : .whole })
    try add(rest.dropLast(4), head, to: &message, isStreamed: isStreamed ?? false)
    guard rest.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) == checksum.value else {
      throw .malformed("The checksum is wrong")
    }
    let due = try message.noteFrame(rest.count)
    if let due, head.hasMore { outgoing.acknowledge(key, due) }
    let part = try message.takePart()
    guard !head.hasMore else {
      incoming.put(message, key)
      return part.flatMap { $0.isEmpty ? nil : .part(head.number, $0, isLast: false) }
    }
    if kind != .request { awaited[head.number] = nil }
    if let part { return .part(head.number, part, isLast: true) }
    if case .withdrawn = message.form { return nil }
    let complete = try message.complete()
    try note(complete, head.number)
    return .message(head.number, complete)
  }

  private mutating func add(
    _ payload: ArraySlice<UInt8>, _ head: FrameHead, to message: inout IncomingMessage,
    isStreamed: Bool
  ) throws(BLIPError) {
    guard head.isCompressed else {
      checksum.add(payload)
      inflatedBytes += payload.count
      return try incoming.append(payload, to: &message)
    }
    let stream: InflateStream
    if let inflater { stream = inflater } else { stream = try InflateStream() }
    inflater = stream
    let limit = isStreamed ? BLIPLimits.inflatedPartBytes : BLIPLimits.inflatedBytes
    try stream.inflate(payload, limit: limit) { piece throws(BLIPError) in
      checksum.add(piece)
      inflatedBytes += piece.count
      try incoming.append(piece, to: &message)
    }
  }

  private mutating func note(_ message: BLIPMessage, _ number: UInt64) throws(BLIPError) {
    guard message.kind == .request, !message.isNoReply else { return }
    guard unanswered.count < BLIPLimits.unanswered else {
      throw .tooLarge("Too many requests have no answer")
    }
    unanswered.insert(number)
  }

  /// Sends a request.
  /// - Parameter streamsAnswer: whether the answer is passed on part by part, so that it may be longer than a message.
  /// - Returns: its number.
  package mutating func send(_ request: BLIPMessage, streamsAnswer: Bool = false) -> UInt64 {
    lastRequest += 1
    if !request.isNoReply { awaited[lastRequest] = streamsAnswer }
    outgoing.add(request, number: lastRequest)
    return lastRequest
  }

  /// Notes that the rest of an answer is not wanted, which has come in part. The peer gets no further acknowledgement.
  package mutating func withdraw(_ number: UInt64) { incoming.withdraw(number) }

  /// Answers a request of the peer. A second answer, and one that is not wanted, is not sent.
  /// - Parameter following: how many bytes follow the body, which ``supply(_:to:)`` adds.
  package mutating func answer(
    _ number: UInt64, _ answer: BLIPMessage, following: Int64 = 0
  ) {
    guard unanswered.remove(number) != nil else { return }
    outgoing.add(answer, number: number, following: following)
  }

  /// The number of an answer that goes on as soon as more of its bytes are supplied; nil for none.
  package var wanting: UInt64? { outgoing.wanting }

  /// Supplies the next bytes of the answer that ``wanting`` names.
  package mutating func supply(_ bytes: [UInt8], to number: UInt64) {
    outgoing.supply(bytes, to: number)
  }

  /// The next frame for the peer; nil if there is none now.
  package mutating func nextFrame() -> [UInt8]? { outgoing.nextFrame() }

  /// The bytes of messages that are not sent yet.
  package var queuedBytes: Int { outgoing.byteCount }

  /// The bytes of the peer's messages that are not complete.
  package var heldBytes: Int { incoming.byteCount }
}
