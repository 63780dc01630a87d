import DequeModule

/// The messages that are being sent, in turns. A message whose peer has not acknowledged enough of it waits.
struct OutgoingMessages {
  private struct Sending {
    let number: UInt64
    let kind: BLIPMessage.Kind
    let isNoReply: Bool
    var bytes: [UInt8]
    /// The bytes that are to be supplied after these.
    var following: Int64
    var offset = 0
    /// The bytes as they were sent, with their checksums.
    var sent: UInt64 = 0
    var acknowledged: UInt64 = 0

    var isBlocked: Bool { sent - acknowledged >= UInt64(BLIPLimits.windowBytes) }
    var isWanting: Bool { offset == bytes.count && following > 0 }
  }

  private var queue: Deque<Sending> = []
  private var acknowledgements: Deque<[UInt8]> = []
  private var checksum = RunningChecksum()
  /// The bytes of all messages that are not sent yet.
  private(set) var byteCount = 0

  /// Adds a message. The first frames of messages are sent in the order of these calls.
  /// - Parameter following: how many bytes are supplied later.
  mutating func add(_ message: BLIPMessage, number: UInt64, following: Int64 = 0) {
    let bytes = message.bytes
    byteCount += bytes.count
    queue.append(
      Sending(
        number: number, kind: message.kind, isNoReply: message.isNoReply, bytes: bytes,
        following: following))
  }

  /// The first answer that only lacks its next bytes.
  var wanting: UInt64? {
    queue.first { $0.kind != .request && $0.isWanting && !$0.isBlocked }?.number
  }

  /// Adds the next bytes of an answer.
  mutating func supply(_ bytes: [UInt8], to number: UInt64) {
    let index = queue.firstIndex { $0.number == number && $0.kind != .request && $0.isWanting }
    guard let index else { return }
    let taken = Int(min(Int64(bytes.count), queue[index].following))
    queue[index].bytes = taken == bytes.count ? bytes : Array(bytes.prefix(taken))
    queue[index].offset = 0
    queue[index].following -= Int64(taken)
    byteCount += taken
  }

  /// Adds the acknowledgement of what has arrived of a message. It precedes all other frames.
  mutating func acknowledge(_ key: IncomingMessages.Key, _ count: UInt64) {
    var frame: [UInt8] = []
    FrameHead(key.number, .acknowledgement(ofRequest: key.isRequest)).append(to: &frame)
    Varint.append(count, to: &frame)
    acknowledgements.append(frame)
  }

  /// Notes what the peer has received of a message. A message that is sent whole needs none.
  /// - Throws: `malformed` for more than was sent.
  mutating func noteAcknowledged(
    _ number: UInt64, ofRequest isRequest: Bool, _ count: UInt64
  ) throws(BLIPError) {
    let index = queue.firstIndex { $0.number == number && ($0.kind == .request) == isRequest }
    guard let index else { return }
    guard count <= queue[index].sent else { throw .malformed("More is acknowledged than was sent") }
    queue[index].acknowledged = max(queue[index].acknowledged, count)
  }

  /// The next frame; nil if there is none, or every message waits for its peer or for its bytes.
  mutating func nextFrame() -> [UInt8]? {
    if let frame = acknowledgements.popFirst() { return frame }
    guard let index = queue.firstIndex(where: { !$0.isBlocked && !$0.isWanting }) else {
      return nil
    }
    var message = queue.remove(at: index)
    // The head has at most eleven bytes, the checksum four.
    let most = BLIPLimits.frameBytes - 15
    let payload = message.bytes[message.offset...].prefix(most)
    message.offset += payload.count
    message.sent += UInt64(payload.count + 4)
    byteCount -= payload.count
    let hasMore = message.offset < message.bytes.count || message.following > 0
    var frame: [UInt8] = []
    frame.reserveCapacity(payload.count + 15)
    FrameHead(
      message.number, .part(message.kind), isNoReply: message.isNoReply, hasMore: hasMore
    ).append(to: &frame)
    frame += payload
    checksum.add(payload)
    for shift in [24, 16, 8, 0] as [UInt32] {
      frame.append(UInt8(truncatingIfNeeded: checksum.value >> shift))
    }
    if hasMore { queue.append(message) }
    return frame
  }
}
