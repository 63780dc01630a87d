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

  /// Whether the byte is one of the four white space characters of JSON.
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// The byte at an offset; past the end NUL, which the grammar never allows.
  @inline(__always)
  static func at(_ offset: Int, in text: Span<UInt8>) -> UInt8 {
    offset < text.count ? text[offset] : 0
  }

  /// A mask of the bytes of `word` that end a run of plain text in a string: a quotation mark, a backslash, a control
  /// character or any byte that is not ASCII. Bit 7 of the lowest such byte is correct. Bits above it may be set
  /// wrongly, because a borrow affects the higher bytes.
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
  /// lowest such byte is correct; bits above it may be set wrongly.
  @inline(__always)
  static func ends(in word: UInt64) -> UInt64 {
    let quotes = word ^ (ones &* UInt64(quote))
    return (((quotes &- ones) & ~quotes) & tops) | backslashes(in: word)
  }

  /// A mask of the bytes of `word` that are backslashes, with the same restriction as ``ends(in:)``.
  @inline(__always)
  static func backslashes(in word: UInt64) -> UInt64 {
    let backslashes = word ^ (ones &* UInt64(backslash))
    return ((backslashes &- ones) & ~backslashes) & tops
  }

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var tops: UInt64 { 0x8080_8080_8080_8080 }
}
