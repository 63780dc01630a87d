/// Numbers in base 128, the lowest seven bits first. The high bit of a byte says that another byte follows.
enum Varint {
  /// The most bytes of a number: 64 bits.
  private static let maximumBytes = 10

  static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Reads a number and removes it from the bytes.
  /// - Throws: `malformed` for an incomplete number, and for one of more than 64 bits.
  static func read(_ bytes: inout ArraySlice<UInt8>) throws(BLIPError) -> UInt64 {
    var number: UInt64 = 0
    for index in 0..<maximumBytes {
      guard let byte = bytes.popFirst() else { throw .malformed("A number is incomplete") }
      let bits = UInt64(byte & 0x7F)
      guard index < maximumBytes - 1 || bits <= 1 else { break }
      number |= bits << UInt64(7 * index)
      if byte < 0x80 { return number }
    }
    throw .malformed("A number is too long")
  }
}
