/// One end of a connection that speaks BLIP 3: frames in, messages out, and the reverse. A value that knows no socket.
///
/// A message is divided into frames, and the frames of several messages alternate. Each direction has one checksum and one
/// stream of compressed bytes over all of its frames. This end compresses nothing, and inflates what the peer compresses.
/// Source: `couchbase/couchbase-lite-core`, "BLIP Protocol, version 3".
package struct BLIPConnection: ~Copyable {
  private var incoming: IncomingMessages
  private var outgoing = OutgoingMessages()
  private var checksum = RunningChecksum()
  /// Nil until the peer sends the first compressed frame: it takes 40 KiB.
  private var inflater: InflateStream?
  private var lastRequest: UInt64 = 0
  /// The requests of this end whose answers are not complete.
  private var awaited: Set<UInt64> = []
  /// The requests of the peer that have no answer yet.
  private var unanswered: Set<UInt64> = []

  /// A connection without messages.
  package init(_ limits: BLIPLimits) { incoming = IncomingMessages(limits) }

  /// Takes a frame of the peer.
  /// - Returns: the message that is now complete, with its number; nil while none is. An answer has the number of its
  ///   request.
  /// - Throws: `malformed`, `tooLarge`, `outOfMemory`; then the connection can't continue.
  package mutating func receive(
    _ frame: [UInt8]
  ) throws(BLIPError) -> (number: UInt64, message: BLIPMessage)? {
    var rest = frame[...]
    let head = try FrameHead(&rest)
    switch head.content {
    case .acknowledgement(let ofRequest):
      let count = try Varint.read(&rest)
      try outgoing.noteAcknowledged(head.number, ofRequest: ofRequest, count)
      return nil
    case .part(let kind):
      let message = try receive(rest, head, kind)
      return message.map { (head.number, $0) }
    }
  }

  private mutating func receive(
    _ rest: ArraySlice<UInt8>, _ head: FrameHead, _ kind: BLIPMessage.Kind
  ) throws(BLIPError) -> BLIPMessage? {
    guard rest.count >= 4 else { throw .malformed("A frame has no checksum") }
    let key = IncomingMessages.Key(number: head.number, isRequest: kind == .request)
    var payload = rest.dropLast(4)
    if head.isCompressed { payload = try inflate(payload, limit: incoming.allowance(of: key)) }
    checksum.add(payload)
    guard rest.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) == checksum.value else {
      throw .malformed("The checksum is wrong")
    }
    let outcome = try incoming.add(
      payload, sent: rest.count, head, kind, isExpected: awaited.contains(head.number))
    switch outcome {
    case .nothing: return nil
    case .acknowledge(let count):
      outgoing.acknowledge(key, count)
      return nil
    case .complete(let message):
      try note(message, head.number)
      return message
    }
  }

  private mutating func inflate(
    _ payload: ArraySlice<UInt8>, limit: Int
  ) throws(BLIPError) -> ArraySlice<UInt8> {
    let stream: InflateStream
    if let inflater { stream = inflater } else { stream = try InflateStream() }
    inflater = stream
    return try stream.inflate(payload, limit: limit)[...]
  }

  private mutating func note(_ message: BLIPMessage, _ number: UInt64) throws(BLIPError) {
    guard message.kind == .request else {
      awaited.remove(number)
      return
    }
    guard !message.isNoReply else { return }
    guard unanswered.count < BLIPLimits.unanswered else {
      throw .tooLarge("Too many requests have no answer")
    }
    unanswered.insert(number)
  }

  /// Sends a request.
  /// - Returns: its number.
  package mutating func send(_ request: BLIPMessage) -> UInt64 {
    lastRequest += 1
    if !request.isNoReply { awaited.insert(lastRequest) }
    outgoing.add(request, number: lastRequest)
    return lastRequest
  }

  /// Answers a request of the peer. A second answer, and one that is not wanted, is not sent.
  package mutating func answer(_ number: UInt64, _ answer: BLIPMessage) {
    guard unanswered.remove(number) != nil else { return }
    outgoing.add(answer, number: number)
  }

  /// The next frame for the peer; nil if there is none now.
  package mutating func nextFrame() -> [UInt8]? { outgoing.nextFrame() }

  /// The bytes of messages that are not sent yet.
  package var queuedBytes: Int { outgoing.byteCount }

  /// The bytes of the peer's messages that are not complete.
  package var heldBytes: Int { incoming.byteCount }
}
