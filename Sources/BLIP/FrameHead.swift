/// The beginning of a frame: the number of its message, and what the frame is.
struct FrameHead: Equatable {
  /// What a frame carries.
  enum Content: Equatable {
    /// A part of a message.
    case part(BLIPMessage.Kind)
    /// How much of a message has arrived.
    case acknowledgement(ofRequest: Bool)
  }

  private static let compressed: UInt8 = 0x08
  private static let urgent: UInt8 = 0x10
  private static let noReply: UInt8 = 0x20
  private static let moreComing: UInt8 = 0x40

  let number: UInt64
  let content: Content
  var isCompressed = false
  var isUrgent = false
  var isNoReply = false
  var hasMore = false

  init(_ number: UInt64, _ content: Content, isNoReply: Bool = false, hasMore: Bool = false) {
    (self.number, self.content) = (number, content)
    (self.isNoReply, self.hasMore) = (isNoReply, hasMore)
  }

  /// Reads the head and removes it from the bytes.
  /// - Throws: `malformed`.
  init(_ bytes: inout ArraySlice<UInt8>) throws(BLIPError) {
    number = try Varint.read(&bytes)
    guard number > 0 else { throw .malformed("Messages are numbered from 1") }
    let flags = try Varint.read(&bytes)
    guard let flags = UInt8(exactly: flags), flags < 0x80 else {
      throw .malformed("A frame has unknown flags")
    }
    switch flags & 0x07 {
    case 4: content = .acknowledgement(ofRequest: true)
    case 5: content = .acknowledgement(ofRequest: false)
    case let kind:
      guard let kind = BLIPMessage.Kind(rawValue: kind) else {
        throw .malformed("A frame has an unknown type")
      }
      content = .part(kind)
    }
    isCompressed = flags & Self.compressed != 0
    isUrgent = flags & Self.urgent != 0
    isNoReply = flags & Self.noReply != 0
    hasMore = flags & Self.moreComing != 0
  }

  func append(to bytes: inout [UInt8]) {
    Varint.append(number, to: &bytes)
    var flags: UInt8 =
      switch content {
      case .part(let kind): kind.rawValue
      // As LiteCore has it: urgent, and without a reply.
      case .acknowledgement(let ofRequest): (ofRequest ? 4 : 5) | Self.urgent | Self.noReply
      }
    if isNoReply { flags |= Self.noReply }
    if hasMore { flags |= Self.moreComing }
    Varint.append(UInt64(flags), to: &bytes)
  }
}
