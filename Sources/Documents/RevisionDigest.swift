/// What follows the generation in a revision's id: a hash, or a peer's own short word.
///
/// A hash is 32 lower-case hex digits and held as the 16 bytes that they stand for, because trees of
/// hundreds of revisions are read, compared and written at every update; a text has one form only.
package enum RevisionDigest: Hashable, Comparable, Sendable {
  /// 32 lower-case hex digits, the first 16 in the high word.
  case hash(high: UInt64, low: UInt64)
  /// Any other text.
  case word(String)

  /// Takes a text, which is not checked.
  package init(_ text: String) {
    var text = text
    self =
      text.withUTF8 { bytes in Hex.words(UnsafeRawBufferPointer(bytes)) }
      .map { .hash(high: $0.high, low: $0.low) } ?? .word(text)
  }

  /// The hash of 16 bytes, the first ones; those that are missing count as 0.
  package init(hash bytes: some Sequence<UInt8>) {
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for (place, byte) in bytes.prefix(16).enumerated() {
      let bits = UInt64(byte) << (56 - UInt64(place % 8) * 8)
      if place < 8 { words.high |= bits } else { words.low |= bits }
    }
    self = .hash(high: words.high, low: words.low)
  }

  /// The digest as it is written.
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

  /// By the bytes of the texts. Digits come before letters there, so that hashes are in the order of their
  /// numbers.
  package static func < (left: RevisionDigest, right: RevisionDigest) -> Bool {
    switch (left, right) {
    case (.hash(let high, let low), .hash(let otherHigh, let otherLow)):
      (high, low) < (otherHigh, otherLow)
    default: left.text.precedesBytes(of: right.text)
    }
  }
}
