/// The bounds of what one connection holds, and the sizes of what it sends.
package struct BLIPLimits: Sendable {
  /// The most bytes of a message that is kept, inflated: its properties and its body. Of a longer request only the properties
  /// are kept.
  package var messageBytes: Int
  /// The most bytes of all incomplete messages of the peer, inflated.
  package var openBytes: Int

  /// The most bytes of a message's properties, as in LiteCore.
  package static let propertyBytes = 100 << 10
  /// The most messages of the peer that are incomplete at the same time.
  package static let openMessages = 64
  /// The most requests of the peer that have no answer yet. LiteCore sends up to 2 MiB of revisions that wait for their
  /// answers, however many these are; the shortest one has less than 100 bytes.
  package static let unanswered = 1 << 15
  /// The bytes of a frame, with all that belongs to it.
  static let frameBytes = 16 << 10
  /// An incomplete message is acknowledged each time this many bytes have come.
  static let acknowledgedBytes = 50_000
  /// A message with this many bytes that are not acknowledged is not continued.
  static let windowBytes = 128_000

  /// The most bytes that one frame has when it is inflated. Frames of LiteCore have 16 KiB, which deflate makes of at most
  /// 1,032 times as many.
  static let inflatedBytes = 17 << 20
  /// The same for a frame of an answer that is passed on, which nobody asks to be compressed.
  static let inflatedPartBytes = 1 << 20
  /// The pieces of 32 KiB that are inflated at once.
  static let piecesAtOnce = 8
  /// The most bytes of an answer that is not wanted any more, after its last acknowledgement: the window, and the frame
  /// that exceeds it.
  static let unwantedBytes = windowBytes + (64 << 10)

  package init(messageBytes: Int, openBytes: Int) {
    (self.messageBytes, self.openBytes) = (messageBytes, openBytes)
  }
}
