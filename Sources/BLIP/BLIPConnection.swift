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

  /// A frame that is being read.
  private struct Reading {
    let head: FrameHead
    let key: IncomingMessages.Key
    var message: IncomingMessage
    /// The payload as it was sent, with its checksum.
    let sent: ArraySlice<UInt8>
    /// Nil for a payload that is not compressed.
    var inflation: InflateStream.Frame?
  }

  private var incoming: IncomingMessages
  private var reading: Reading?
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

  /// Takes a frame of the peer. Call ``proceed()`` until it is read.
  /// - Throws: `malformed`, `tooLarge`, `outOfMemory`; then the connection can't continue.
  package mutating func receive(_ frame: [UInt8]) throws(BLIPError) {
    var rest = frame[...]
    let head = try FrameHead(&rest)
    switch head.content {
    case .acknowledgement(let ofRequest):
      let count = try Varint.read(&rest)
      try outgoing.noteAcknowledged(head.number, ofRequest: ofRequest, count)
    case .part(let kind):
      guard rest.count >= 4 else { throw .malformed("A frame has no checksum") }
      let key = IncomingMessages.Key(number: head.number, isRequest: kind == .request)
      let isStreamed = kind != .request && awaited[head.number] ?? false
      // A client may answer what wants no answer, too.
      let isAnswer = kind != .request && head.number <= lastRequest
      let message = try incoming.take(
        key, head, kind,
        isStreamed ? .streamed(hasProperties: false) : isAnswer || key.isRequest ? .whole : nil)
      var reading = Reading(head: head, key: key, message: message, sent: rest)
      if head.isCompressed {
        let limit = isStreamed ? BLIPLimits.inflatedPartBytes : BLIPLimits.inflatedBytes
        reading.inflation = InflateStream.Frame(rest.dropLast(4), limit: limit)
      }
      self.reading = reading
    }
  }

  /// Reads some of the frame that has come: a compressed one may have a thousand times its bytes.
  /// - Returns: what the frame completes, if it is read; nil for nothing.
  /// - Throws: as ``receive(_:)``.
  package mutating func proceed() throws(BLIPError) -> (isRead: Bool, event: Event?) {
    guard var next = reading else { return (true, nil) }
    reading = nil
    guard try add(to: &next) else {
      reading = next
      return (false, nil)
    }
    return (true, try finish(next))
  }

  /// Adds bytes of a frame to its message.
  /// - Returns: whether these are all.
  private mutating func add(to next: inout Reading) throws(BLIPError) -> Bool {
    guard next.inflation != nil else {
      let payload = next.sent.dropLast(4)
      checksum.add(payload)
      inflatedBytes += payload.count
      try incoming.append(payload, to: &next.message)
      return true
    }
    let stream: InflateStream
    if let inflater { stream = inflater } else { stream = try InflateStream() }
    inflater = stream
    for _ in 0..<BLIPLimits.piecesAtOnce {
      guard let piece = try next.inflation?.next(in: stream) else { return true }
      checksum.add(piece.bytes)
      inflatedBytes += piece.bytes.count
      try incoming.append(piece.bytes, to: &next.message)
      if piece.isLast { return true }
    }
    return false
  }

  private mutating func finish(_ next: Reading) throws(BLIPError) -> Event? {
    let (head, key) = (next.head, next.key)
    var message = next.message
    guard next.sent.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) == checksum.value else {
      throw .malformed("The checksum is wrong")
    }
    let due = try message.noteFrame(next.sent.count)
    if let due, head.hasMore { outgoing.acknowledge(key, due) }
    let part = try message.takePart()
    guard !head.hasMore else {
      incoming.put(message, key)
      return part.flatMap { $0.isEmpty ? nil : .part(head.number, $0, isLast: false) }
    }
    if message.kind != .request { awaited[head.number] = nil }
    if let part { return .part(head.number, part, isLast: true) }
    if case .withdrawn = message.form { return nil }
    let complete = try message.complete()
    try note(complete, head.number)
    return .message(head.number, complete)
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
  package mutating func answer(_ number: UInt64, _ answer: BLIPMessage, following: Int64 = 0) {
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
  package var heldBytes: Int { incoming.byteCount + (reading?.message.bytes.count ?? 0) }
}
