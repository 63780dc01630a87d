/// How long the arrays, objects and long strings of a text are, in the order in which they begin: what lets a reader
/// step over one.
///
/// All else is short, and its end is found in the text, which was checked. So what is kept of a text takes at most
/// twice its bytes, of `[[[…]]]`, and next to nothing of a usual one. A word of 4 bytes has, from the low bits, the
/// bytes of the value (16), how many words follow for what stands in it (15), and a flag: with it the other bits are
/// the place in a list of those of 64 KiB or more.
struct JSONExtents: Sendable {
  /// Bytes from which on a string, with its quotation marks, has a word.
  static let longString = 256

  /// The words of longer values.
  private struct Long: Sendable {
    let bytes: UInt32
    let words: UInt32
    let items: UInt32
  }

  private var words: [UInt32] = []
  private var long: [Long] = []

  private static let flag: UInt32 = 1 << 31

  /// None yet for a text of so many bytes and values at most. Room for a long text is taken at once, as growing would
  /// take as much again; what is not used of it takes no memory.
  init(forBytes bytes: Int, values: Int) {
    words.reserveCapacity(bytes > 64 << 10 ? min(bytes / 2, values) : min(bytes / 64, 256) + 4)
  }

  /// The index of the next word.
  var count: Int { words.count }

  /// Begins a value; returns its index.
  mutating func open() -> Int {
    words.append(0)
    return words.count - 1
  }

  /// Ends the value at an index.
  /// - Parameter items: how many elements or members it has.
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

  /// How many bytes the value at an index takes, and the index of the next value that does not stand in it.
  @inline(__always)
  func extent(_ index: Int) -> (bytes: Int, next: Int) {
    let word = words[index]
    guard word & Self.flag == 0 else {
      let value = long[Int(word & ~Self.flag)]
      return (Int(value.bytes), index + 1 + Int(value.words))
    }
    return (Int(word & 0xFFFF), index + 1 + Int(word >> 16))
  }

  /// How many elements or members the value at an index has, if it is so long that counting them would take long.
  func items(_ index: Int) -> Int? {
    let word = words[index]
    return word & Self.flag == 0 ? nil : Int(long[Int(word & ~Self.flag)].items)
  }
}
