/// The part of a revision's id after the generation: a hash, or a peer's own short word.
///
/// A hash is 32 lower-case hex digits, held as the 16 bytes that they encode, because each update reads,
/// compares and writes trees of hundreds of revisions. A text has only one of the two forms.
package enum RevisionDigest: Hashable, Comparable, Sendable {
  /// 32 lower-case hex digits, the first 16 in the high word.
  case hash(high: UInt64, low: UInt64)
  /// Any other text.
  case word(String)

  /// Creates a digest from a text, without a check.
  package init(_ text: String) {
    var text = text
    self =
      text.withUTF8 { bytes in Hex.words(UnsafeRawBufferPointer(bytes)) }
      .map { .hash(high: $0.high, low: $0.low) } ?? .word(text)
  }

  /// Creates a digest from the bytes of a text, without a check.
  /// - Returns: nil when the bytes are not valid UTF-8.
  package init?(text bytes: UnsafeRawBufferPointer) {
    if let words = Hex.words(bytes) {
      self = .hash(high: words.high, low: words.low)
    } else {
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self = .word(text)
    }
  }

  /// Creates a hash from the first 16 bytes; missing bytes count as 0.
  package init(hash bytes: some Sequence<UInt8>) {
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for (index, byte) in bytes.prefix(16).enumerated() {
      let bits = UInt64(byte) << (56 - UInt64(index % 8) * 8)
      if index < 8 { words.high |= bits } else { words.low |= bits }
    }
    self = .hash(high: words.high, low: words.low)
  }

  package var text: String {
    switch self {
    case .hash(let high, let low): Hex.string(high, low)
    case .word(let text): text
    }
  }

  /// How many bytes ``text`` has.
  package var count: Int {
    switch self {
    case .hash: 32
    case .word(let text): text.utf8.count
    }
  }

  /// Appends the bytes of ``text``.
  package func append(to bytes: inout [UInt8]) {
    switch self {
    case .hash(let high, let low): Hex.append(high, low, to: &bytes)
    case .word(let text): bytes += text.utf8
    }
  }

  package static func == (left: RevisionDigest, right: RevisionDigest) -> Bool {
    switch (left, right) {
    case (.hash(let high, let low), .hash(let otherHigh, let otherLow)):
      high == otherHigh && low == otherLow
    case (.word(let text), .word(let other)): text.equalsBytes(of: other)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .hash(let high, let low):
      hasher.combine(high)
      hasher.combine(low)
    case .word(let text): text.hashBytes(into: &hasher)
    }
  }

  /// Orders by the bytes of the texts. In ASCII digits come before letters, so hashes are in the order of
  /// their numbers.
  package static func < (left: RevisionDigest, right: RevisionDigest) -> Bool {
    switch (left, right) {
    case (.hash(let high, let low), .hash(let otherHigh, let otherLow)):
      (high, low) < (otherHigh, otherLow)
    default: left.text.precedesBytes(of: right.text)
    }
  }
}
