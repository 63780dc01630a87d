/// The lengths of the arrays, objects and long strings of a text, in the order in which they begin. With them a reader
/// can step over a value.
///
/// All other values are short, and a reader finds their ends in the text, which was checked. The lengths take at most
/// twice the bytes of the text, for `[[[…]]]`, and very little for a usual text. A word has 4 bytes. From the low bits
/// on it contains the bytes of the value (16 bits), the number of following words for the values in it (15 bits), and a
/// flag. When the flag is set, the value has 64 KiB or more, and the other bits are its index in the list of such
/// values.
struct JSONExtents: Sendable {
  /// A string of this many bytes or more, with its quotation marks, has a word.
  static let longString = 256

  /// The lengths of a value of 64 KiB or more.
  private struct Long: Sendable {
    let bytes: UInt32
    let words: UInt32
    let items: UInt32
  }

  private var words: [UInt32] = []
  private var long: [Long] = []

  private static let flag: UInt32 = 1 << 31

  /// Makes an empty list for a text of at most this many bytes and values. It reserves the capacity for a long text at
  /// once, because growing would take as much again; unused capacity takes no memory.
  init(forBytes bytes: Int, values: Int) {
    words.reserveCapacity(bytes > 64 << 10 ? min(bytes / 2, values) : min(bytes / 64, 256) + 4)
  }

  /// The index of the next word.
  var count: Int { words.count }

  /// Begins a value and returns its index.
  mutating func open() -> Int {
    words.append(0)
    return words.count - 1
  }

  /// Ends the value at an index.
  /// - Parameter items: the number of its elements or members.
  mutating func close(_ index: Int, bytes: Int, items: Int) {
    let within = words.count - index - 1
    guard bytes > 0xFFFF else {
      words[index] = UInt32(truncatingIfNeeded: bytes) | UInt32(truncatingIfNeeded: within) << 16
      return
    }
    words[index] = Self.flag | UInt32(truncatingIfNeeded: long.count)
    long.append(
      Long(
        bytes: UInt32(truncatingIfNeeded: bytes), words: UInt32(truncatingIfNeeded: within),
        items: UInt32(truncatingIfNeeded: items)))
  }

  /// The number of bytes of the value at an index, and the index of the next value that is not inside it.
  @inline(__always)
  func extent(_ index: Int) -> (bytes: Int, next: Int) {
    let word = words[index]
    guard word & Self.flag == 0 else {
      let value = long[Int(word & ~Self.flag)]
      return (Int(value.bytes), index + 1 + Int(value.words))
    }
    return (Int(word & 0xFFFF), index + 1 + Int(word >> 16))
  }

  /// The number of elements or members of the value at an index; nil for a value below 64 KiB, in which they are
  /// quickly counted.
  func items(_ index: Int) -> Int? {
    let word = words[index]
    return word & Self.flag == 0 ? nil : Int(long[Int(word & ~Self.flag)].items)
  }
}
