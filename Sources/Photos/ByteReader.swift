/// Reads numbers and parts of bytes, within bounds.
struct ByteReader {
  let bytes: ArraySlice<UInt8>
  private(set) var index: Int
  private let isLittleEndian: Bool

  init(_ bytes: ArraySlice<UInt8>, littleEndian: Bool = false) {
    (self.bytes, index, isLittleEndian) = (bytes, bytes.startIndex, littleEndian)
  }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// How many bytes are left.
  var count: Int { bytes.endIndex - index }

  /// The next bytes; nil if there are fewer.
  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= self.count else { return nil }
    defer { index += count }
    return bytes[index..<index + count]
  }

  /// A number without a sign, of at most 8 bytes; nil if it is not there, or exceeds `Int`.
  mutating func number(_ size: Int) -> Int? {
    guard size <= 8, let bytes = take(size) else { return nil }
    let digits = isLittleEndian ? Array(bytes.reversed()) : Array(bytes)
    return Int(exactly: digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// Four characters.
  mutating func name() -> String? { take(4).map { String(decoding: $0, as: UTF8.self) } }
}

/// A number as bytes, the highest first.
func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
  (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
}
