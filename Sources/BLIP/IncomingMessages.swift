/// The messages of the peer that have begun and are not complete.
struct IncomingMessages {
  /// Identifies a message among those of the peer.
  struct Key: Hashable {
    let number: UInt64
    let isRequest: Bool
  }

  private struct Open {
    let kind: BLIPMessage.Kind
    let isNoReply: Bool
    var bytes: [UInt8] = []
    /// The bytes as they were sent, with their checksums.
    var received: UInt64 = 0
    var acknowledged: UInt64 = 0
  }

  /// What a frame leads to.
  enum Outcome {
    case nothing
    /// The message continues; acknowledge these bytes.
    case acknowledge(UInt64)
    case complete(BLIPMessage)
  }

  private let limits: BLIPLimits
  private var open: [Key: Open] = [:]
  /// The number of the peer's last request that has begun.
  private var lastRequest: UInt64 = 0
  /// The inflated bytes of all messages that are not complete.
  private(set) var byteCount = 0

  init(_ limits: BLIPLimits) { self.limits = limits }

  /// How many bytes the next frame of a message may still add.
  func allowance(of key: Key) -> Int {
    min(limits.messageBytes - (open[key]?.bytes.count ?? 0), limits.openBytes - byteCount)
  }

  /// Adds the payload of a frame.
  /// - Parameter sent: the bytes of the payload as they were sent, with the checksum.
  /// - Parameter isExpected: whether an answer belongs to a request that waits for it.
  /// - Throws: `malformed`, `tooLarge`.
  mutating func add(
    _ payload: ArraySlice<UInt8>, sent: Int, _ head: FrameHead, _ kind: BLIPMessage.Kind,
    isExpected: Bool
  ) throws(BLIPError) -> Outcome {
    let key = Key(number: head.number, isRequest: kind == .request)
    guard payload.count <= allowance(of: key) else { throw .tooLarge("A message is too long") }
    var message: Open
    if let known = open[key] {
      message = known
    } else {
      message = try begin(key, head, kind, isExpected: isExpected)
    }
    guard message.kind == kind else { throw .malformed("A message changes its type") }
    guard head.hasMore || !message.bytes.isEmpty else {
      open[key] = nil
      return .complete(
        try BLIPMessage(kind, parsing: Array(payload), isNoReply: message.isNoReply))
    }
    // Out of the dictionary while it grows, so that its bytes are not copied.
    open[key] = nil
    message.bytes += payload
    byteCount += payload.count
    message.received += UInt64(sent)
    guard head.hasMore else {
      byteCount -= message.bytes.count
      return .complete(
        try BLIPMessage(kind, parsing: message.bytes, isNoReply: message.isNoReply))
    }
    let isDue = message.received - message.acknowledged >= UInt64(BLIPLimits.acknowledgedBytes)
    if isDue { message.acknowledged = message.received }
    open[key] = message
    return isDue ? .acknowledge(message.received) : .nothing
  }

  private mutating func begin(
    _ key: Key, _ head: FrameHead, _ kind: BLIPMessage.Kind, isExpected: Bool
  ) throws(BLIPError) -> Open {
    if key.isRequest {
      guard key.number == lastRequest + 1 else {
        throw .malformed("Requests are numbered in their order, without gaps")
      }
      lastRequest = key.number
    } else if !isExpected {
      throw .malformed("An answer belongs to no request")
    }
    guard open.count < BLIPLimits.openMessages else {
      throw .tooLarge("Too many messages are incomplete")
    }
    return Open(kind: kind, isNoReply: head.isNoReply)
  }
}
