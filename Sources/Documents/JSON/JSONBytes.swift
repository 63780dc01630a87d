/// Comparisons of byte ranges, by value and never by Unicode equivalence.
enum JSONBytes {
  /// Whether two ranges contain the same bytes.
  static func same(
    _ one: Span<UInt8>, _ first: Range<Int>, _ other: Span<UInt8>, _ second: Range<Int>
  ) -> Bool { first.count == second.count && precedes(one, first, other, second) == nil }

  /// Whether the first range comes before the second in the order of their bytes, a prefix first; nil when they are the
  /// same.
  static func precedes(
    _ one: Span<UInt8>, _ first: Range<Int>, _ other: Span<UInt8>, _ second: Range<Int>
  ) -> Bool? {
    let shorter = min(first.count, second.count)
    var index = 0
    while shorter - index >= 8 {
      let left = word(one, first.lowerBound + index)
      let right = word(other, second.lowerBound + index)
      if left != right { return left < right }
      index += 8
    }
    while index < shorter {
      let left = one[first.lowerBound + index]
      let right = other[second.lowerBound + index]
      if left != right { return left < right }
      index += 1
    }
    return first.count == second.count ? nil : first.count < second.count
  }

  /// The first eight bytes of a range as a number with the same order as the bytes; zeros stand for missing bytes.
  static func prefix(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
    if range.count >= 8 { return word(text, range.lowerBound) }
    var value: UInt64 = 0
    for index in range { value = value << 8 | UInt64(text[index]) }
    return range.isEmpty ? 0 : value << (8 * UInt64(8 - range.count))
  }

  /// Whether two texts have the same bytes. `String`'s own `==` is canonical equivalence, which says that "e\u{301}"
  /// equals "\u{e9}".
  static func same(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
  }

  @inline(__always)
  private static func word(_ text: Span<UInt8>, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
