/// The messages of the peer that have begun and are not complete.
struct IncomingMessages {
  /// Identifies a message among those of the peer.
  struct Key: Hashable {
    let number: UInt64
    let isRequest: Bool
  }

  private let limits: BLIPLimits
  private var open: [Key: IncomingMessage] = [:]
  /// The number of the peer's last request that has begun.
  private var lastRequest: UInt64 = 0
  /// The inflated bytes of all messages that are not complete.
  private(set) var byteCount = 0

  init(_ limits: BLIPLimits) { self.limits = limits }

  /// Takes the message of a frame out, so that its bytes are not copied while it grows. A first frame begins it.
  /// - Parameter form: what becomes of an answer that begins; nil if there was no request with its number.
  /// - Throws: `malformed`, `tooLarge`.
  mutating func take(
    _ key: Key, _ head: FrameHead, _ kind: BLIPMessage.Kind, _ form: IncomingMessage.Form?
  ) throws(BLIPError) -> IncomingMessage {
    if let known = open.removeValue(forKey: key) {
      guard known.kind == kind else { throw .malformed("A message changes its type") }
      byteCount -= known.bytes.count
      return known
    }
    guard !key.isRequest || key.number == lastRequest + 1 else {
      throw .malformed("Requests are numbered in their order, without gaps")
    }
    if key.isRequest { lastRequest = key.number }
    guard let form else { throw .malformed("An answer belongs to no request") }
    guard open.count < BLIPLimits.openMessages else {
      throw .tooLarge("Too many messages are incomplete")
    }
    // An error is short, whatever the answer would have been.
    return IncomingMessage(kind, isNoReply: head.isNoReply, kind == .answer ? form : .whole)
  }

  /// Adds bytes to a message that was taken out.
  /// - Throws: `malformed`, `tooLarge`.
  func append(
    _ piece: some Collection<UInt8>, to message: inout IncomingMessage
  ) throws(BLIPError) {
    try message.append(piece, limit: limits.messageBytes)
    guard byteCount + message.bytes.count <= limits.openBytes else {
      throw .tooLarge("Too many bytes of incomplete messages")
    }
  }

  /// Puts a message back that is not complete.
  mutating func put(_ message: IncomingMessage, _ key: Key) {
    byteCount += message.bytes.count
    open[key] = message
  }

  /// Notes that an answer is not wanted any more.
  mutating func withdraw(_ number: UInt64) {
    let key = Key(number: number, isRequest: false)
    guard var message = open.removeValue(forKey: key) else { return }
    byteCount -= message.bytes.count
    message.withdraw()
    put(message, key)
  }
}
