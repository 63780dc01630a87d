/// Finds the ends of values in a checked text.
enum JSONScan {
  /// The offset after the string that begins at `start`; nil when the string has `bytes` bytes or more.
  @inline(__always)
  static func endOfString(
    at start: Int, in text: Span<UInt8>, shorterThan bytes: Int = JSONExtents.longString
  ) -> Int? {
    var end = start + 1
    let last = bytes <= text.count - start ? start + bytes - 1 : text.count
    while end < last {
      if text.count - end >= 8 {
        let word = UInt64(
          littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self))
        let mask = JSONByte.ends(in: word)
        guard mask != 0 else {
          end += 8
          continue
        }
        end += mask.trailingZeroBitCount / 8
      }
      guard end < last else { return nil }
      switch text[end] {
      case JSONByte.quote: return end + 1
      case JSONByte.backslash: end += 2
      default: end += 1
      }
    }
    return nil
  }

  /// The offset after the number that begins at `start`.
  @inline(__always)
  static func endOfNumber(at start: Int, in text: Span<UInt8>) -> Int {
    var end = start + 1
    while end < text.count, isOfNumber(text[end]) { end += 1 }
    return end
  }

  /// Whether these bytes of a string contain an escape.
  static func isEscaped(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
    var offset = range.lowerBound
    while range.upperBound - offset >= 8 {
      let word = text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if JSONByte.backslashes(in: word) != 0 { return true }
      offset += 8
    }
    while offset < range.upperBound {
      if text[offset] == JSONByte.backslash { return true }
      offset += 1
    }
    return false
  }

  @inline(__always)
  private static func isOfNumber(_ byte: UInt8) -> Bool {
    JSONByte.isDigit(byte) || byte == JSONByte.point || byte == JSONByte.minus || byte == 0x2B
      || byte | 0x20 == 0x65
  }
}
