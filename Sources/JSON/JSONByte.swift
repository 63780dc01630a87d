/// The bytes that JSON's grammar names (RFC 8259 section 2), and tests on bytes of a text.
enum JSONByte {
  /// `"`
  static var quote: UInt8 { 0x22 }
  /// `,`
  static var comma: UInt8 { 0x2C }
  /// `-`
  static var minus: UInt8 { 0x2D }
  /// `.`
  static var point: UInt8 { 0x2E }
  /// `:`
  static var colon: UInt8 { 0x3A }
  /// `[`
  static var openBracket: UInt8 { 0x5B }
  /// `\`
  static var backslash: UInt8 { 0x5C }
  /// `]`
  static var closeBracket: UInt8 { 0x5D }
  /// `{`
  static var openBrace: UInt8 { 0x7B }
  /// `}`
  static var closeBrace: UInt8 { 0x7D }
  /// `u`
  static var letterU: UInt8 { 0x75 }

  /// Whether the byte is one of the four that may stand between tokens.
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// Whether the byte is a digit `0` to `9`.
  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10
  }

  /// The byte at an offset, or NUL, which the grammar allows nowhere, past the end.
  @inline(__always)
  static func at(_ offset: Int, in text: Span<UInt8>) -> UInt8 {
    offset < text.count ? text[offset] : 0
  }

  /// A mask of the bytes of `word` that end a run of plain text in a string: a quotation mark, a
  /// backslash, a control character or any byte that is not ASCII. Bit 7 of the lowest such byte is
  /// right; bits above it may be set falsely, because a borrow travels upwards.
  @inline(__always)
  static func interruptions(in word: UInt64) -> UInt64 {
    let quotes = word ^ (ones &* UInt64(quote))
    let backslashes = word ^ (ones &* UInt64(backslash))
    let controls = (word &- ones &* 0x20) & ~word
    return
      (((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | controls | word)
      & tops
  }

  /// A mask of the bytes of `word` that end a run of a checked string: a quotation mark or a backslash. Bit 7 of the
  /// lowest such byte is right; bits above it may be set falsely.
  @inline(__always)
  static func ends(in word: UInt64) -> UInt64 {
    let quotes = word ^ (ones &* UInt64(quote))
    return (((quotes &- ones) & ~quotes) & tops) | backslashes(in: word)
  }

  /// The same of backslashes alone.
  @inline(__always)
  static func backslashes(in word: UInt64) -> UInt64 {
    let backslashes = word ^ (ones &* UInt64(backslash))
    return ((backslashes &- ones) & ~backslashes) & tops
  }

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var tops: UInt64 { 0x8080_8080_8080_8080 }
}

/// Comparisons of stretches of bytes, by value and never by Unicode equivalence.
enum JSONBytes {
  /// Whether two stretches hold the same bytes.
  static func same(
    _ one: Span<UInt8>, _ first: Range<Int>, _ other: Span<UInt8>, _ second: Range<Int>
  ) -> Bool {
    first.count == second.count && precedes(one, first, other, second) == nil
  }

  /// Whether the first stretch comes before the second in the order of their bytes, a prefix first;
  /// `nil` if they are the same.
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

  /// The first eight bytes of a stretch as a number that orders as they do, with zeros for bytes
  /// that are missing.
  static func prefix(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
    if range.count >= 8 { return word(text, range.lowerBound) }
    var value: UInt64 = 0
    for index in range {
      value = value << 8 | UInt64(text[index])
    }
    return range.isEmpty ? 0 : value << (8 * UInt64(8 - range.count))
  }

  /// Whether two texts have the same bytes. `String`'s own `==` is canonical equivalence, under
  /// which "e\u{301}" equals "\u{e9}".
  static func same(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
  }

  /// Feeds the bytes of a text and their number.
  static func hash(_ text: String, into hasher: inout Hasher) {
    hasher.combine(text.utf8.count)
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  private static func word(_ text: Span<UInt8>, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
