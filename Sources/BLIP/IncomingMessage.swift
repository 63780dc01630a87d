/// A message of the peer that has begun.
struct IncomingMessage {
  /// What is kept of it.
  enum Form {
    case whole
    /// Of a request that is too long, only the properties.
    case skipped([String: String])
    /// Of an answer that is passed on part by part, nothing.
    case streamed(hasProperties: Bool)
    /// Of such an answer that is not wanted any more, nothing. It is not acknowledged either.
    case withdrawn
  }

  let kind: BLIPMessage.Kind
  let isNoReply: Bool
  private(set) var form: Form
  /// What is kept; of a streamed answer the bytes that are not passed on yet.
  private(set) var bytes: [UInt8] = []
  /// The bytes as they were sent, with their checksums.
  private var received: UInt64 = 0
  private var acknowledged: UInt64 = 0

  init(_ kind: BLIPMessage.Kind, isNoReply: Bool, _ form: Form) {
    (self.kind, self.isNoReply, self.form) = (kind, isNoReply, form)
  }

  /// Adds some bytes.
  /// - Parameter limit: the most bytes of a message that is kept whole.
  /// - Throws: `tooLarge` for an answer that is too long; `malformed`.
  mutating func append(_ piece: some Collection<UInt8>, limit: Int) throws(BLIPError) {
    switch form {
    case .whole:
      guard piece.count > limit - bytes.count else {
        bytes += piece
        return
      }
      guard kind == .request else { throw .tooLarge("An answer is too long") }
      // The properties are among the first bytes, and shorter than any limit.
      bytes += piece.prefix(max(0, limit - bytes.count))
      form = .skipped(try BLIPMessage(kind, parsing: bytes, isNoReply: isNoReply).properties)
      bytes = []
    case .streamed: bytes += piece
    case .skipped, .withdrawn: break
    }
  }

  /// Notes that a frame has come.
  /// - Parameter sent: the bytes of its payload as they were sent, with the checksum.
  /// - Returns: the sum to acknowledge, if that is due.
  /// - Throws: `tooLarge` for an answer that goes on without acknowledgements.
  mutating func noteFrame(_ sent: Int) throws(BLIPError) -> UInt64? {
    received += UInt64(sent)
    let isDue = received - acknowledged >= UInt64(BLIPLimits.acknowledgedBytes)
    if case .withdrawn = form {
      guard received - acknowledged <= UInt64(BLIPLimits.unwantedBytes) else {
        throw .tooLarge("An answer goes on that is not acknowledged")
      }
      return nil
    }
    if isDue { acknowledged = received }
    return isDue ? received : nil
  }

  /// Stops to keep and to acknowledge it.
  mutating func withdraw() { (form, bytes) = (.withdrawn, []) }

  /// Removes and returns the bytes of a streamed answer's body that have come. Nil for any other message.
  /// - Throws: `tooLarge`, `malformed`.
  mutating func takePart() throws(BLIPError) -> [UInt8]? {
    guard case .streamed(let hasProperties) = form else { return nil }
    if !hasProperties {
      var rest = bytes[...]
      guard let length = try? Varint.read(&rest) else { return [] }
      guard length <= BLIPLimits.propertyBytes else {
        throw .tooLarge("The properties are too long")
      }
      guard length <= rest.count else { return [] }
      bytes.removeFirst(bytes.count - rest.count + Int(length))
      form = .streamed(hasProperties: true)
    }
    defer { bytes = [] }
    return bytes
  }

  /// The message when all of it has come.
  /// - Throws: `malformed`, `tooLarge`.
  func complete() throws(BLIPError) -> BLIPMessage {
    guard case .skipped(let properties) = form else {
      return try BLIPMessage(kind, parsing: bytes, isNoReply: isNoReply)
    }
    return BLIPMessage(kind, properties, isNoReply: isNoReply, isTooLong: true)
  }
}
