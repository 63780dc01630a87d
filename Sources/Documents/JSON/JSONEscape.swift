/// Reads and writes the escapes of a JSON string (RFC 8259 section 7).
enum JSONEscape {
  /// The UTF-16 code unit of the escape `\uXXXX` at `offset`; nil when there is no such escape.
  static func unit(in text: Span<UInt8>, at offset: Int) -> UInt16? {
    guard JSONByte.at(offset, in: text) == JSONByte.backslash,
      JSONByte.at(offset + 1, in: text) == JSONByte.letterU
    else { return nil }
    var unit: UInt16 = 0
    for index in 2..<6 {
      let digit: UInt8
      switch JSONByte.at(offset + index, in: text) {
      case let byte where JSONByte.isDigit(byte): digit = byte &- 0x30
      case let byte where (byte | 0x20) &- 0x61 < 6: digit = (byte | 0x20) &- 0x61 &+ 10
      default: return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// The scalar whose escape, of one or two code units, begins at `offset` with the unit `first`; nil for an unpaired
  /// surrogate.
  static func scalar(in text: Span<UInt8>, at offset: Int, first: UInt16) -> Unicode.Scalar? {
    guard 0xD800...0xDBFF ~= first else { return Unicode.Scalar(first) }
    guard let second = unit(in: text, at: offset + 6), 0xDC00...0xDFFF ~= second else { return nil }
    return Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10 | UInt32(second - 0xDC00)))
  }

  /// Appends the characters of a checked string, without its quotation marks, as UTF-8.
  ///
  /// - Parameter content: The offsets of the bytes between the quotation marks.
  static func appendResolved(
    _ content: Range<Int>, of text: Span<UInt8>, to output: inout [UInt8]
  ) {
    var offset = content.lowerBound
    while offset < content.upperBound {
      let byte = text[offset]
      guard byte == JSONByte.backslash else {
        output.append(byte)
        offset += 1
        continue
      }
      if let unit = unit(in: text, at: offset),
        let scalar = scalar(in: text, at: offset, first: unit)
      {
        if let encoded = UTF8.encode(scalar) { output.append(contentsOf: encoded) }
        offset += scalar.value > 0xFFFF ? 12 : 6
      } else {
        output.append(meaning(of: JSONByte.at(offset + 1, in: text)))
        offset += 2
      }
    }
  }

  /// Appends a string in quotation marks with the fewest escapes, those that RFC 8785 section 3.2.2.2 requires.
  static func appendQuoted(_ content: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    output.append(JSONByte.quote)
    // Most strings need no escape. The loop has no branches, so that the processor takes many bytes at once.
    var special: UInt8 = 0
    for byte in content { special |= needsEscape(byte) }
    if special == 0 {
      output.append(contentsOf: content)
    } else {
      appendEscaped(content, to: &output)
    }
    output.append(JSONByte.quote)
  }

  /// 1 for a byte that needs an escape, otherwise 0.
  private static func needsEscape(_ byte: UInt8) -> UInt8 {
    (byte < 0x20 ? 1 : 0) | (byte == JSONByte.quote ? 1 : 0) | (byte == JSONByte.backslash ? 1 : 0)
  }

  private static func appendEscaped(
    _ content: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]
  ) {
    var run = 0
    for (index, byte) in content.enumerated() where needsEscape(byte) != 0 {
      output.append(contentsOf: UnsafeBufferPointer(rebasing: content[run..<index]))
      run = index + 1
      output.append(JSONByte.backslash)
      if let letter = letter(for: byte) {
        output.append(letter)
      } else {
        output.append(contentsOf: [JSONByte.letterU, 0x30, 0x30, 0x30 + byte >> 4])
        output.append(hexadecimalDigit(byte & 0xF))
      }
    }
    output.append(contentsOf: UnsafeBufferPointer(rebasing: content[run...]))
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x61 + value - 10
  }

  private static func meaning(of letter: UInt8) -> UInt8 {
    switch letter {
    case 0x62: 0x08
    case 0x66: 0x0C
    case 0x6E: 0x0A
    case 0x72: 0x0D
    case 0x74: 0x09
    default: letter
    }
  }

  private static func letter(for byte: UInt8) -> UInt8? {
    switch byte {
    case JSONByte.quote, JSONByte.backslash: byte
    case 0x08: 0x62
    case 0x0C: 0x66
    case 0x0A: 0x6E
    case 0x0D: 0x72
    case 0x09: 0x74
    default: nil
    }
  }
}

/// Checks one string of a text and finds its end.
struct JSONStringScan {
  /// The byte offset after the closing quotation mark.
  private(set) var end: Int

  /// Whether the string has escapes, so that its bytes differ from its characters.
  private(set) var isEscaped = false

  /// The number of bytes by which the string is shorter with its escapes resolved.
  private var saved = 0

  /// Checks the string whose opening quotation mark is at `start`.
  ///
  /// - Parameter limit: The most bytes of UTF-8 that the string may have with escapes resolved.
  init(_ text: Span<UInt8>, from start: Int, limit: Int) throws(JSONError) {
    end = start + 1
    while true {
      // Skips only as far as needed to see that the string is too long.
      skipPlain(text, to: start + min(limit, text.count) + saved + 9)
      guard end - start - 1 - saved <= limit else {
        throw JSONError(code: .stringTooLong, offset: start)
      }
      guard end < text.count else { throw JSONError(code: .invalidJSON, offset: end) }
      let byte = text[end]
      if byte == JSONByte.quote { break }
      if byte == JSONByte.backslash {
        try takeEscape(text)
      } else if byte >= 0x80 {
        try takeSequence(text, lead: byte)
      } else if byte >= 0x20 {
        end += 1
      } else {
        throw JSONError(code: .invalidJSON, offset: end)
      }
    }
    end += 1
  }

  /// Skips plain ASCII, eight bytes at a time. Fewer than eight bytes at the end of the text are left to the caller.
  @inline(__always)
  private mutating func skipPlain(_ text: Span<UInt8>, to bound: Int) {
    while text.count - end >= 8, end < bound {
      let word = UInt64(
        littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self))
      let mask = JSONByte.interruptions(in: word)
      guard mask == 0 else {
        end += mask.trailingZeroBitCount / 8
        return
      }
      end += 8
    }
  }

  /// Skips one UTF-8 sequence, by table 3-7 of the Unicode Standard: shortest form only, no surrogates, nothing above
  /// U+10FFFF.
  private mutating func takeSequence(_ text: Span<UInt8>, lead: UInt8) throws(JSONError) {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw JSONError(code: .invalidUTF8, offset: end)
    }
    var isWellFormed = second.contains(JSONByte.at(end + 1, in: text))
    for index in 2..<max(length, 2) {
      isWellFormed = isWellFormed && JSONByte.at(end + index, in: text) & 0xC0 == 0x80
    }
    guard isWellFormed else { throw JSONError(code: .invalidUTF8, offset: end) }
    end += length
  }

  private mutating func takeEscape(_ text: Span<UInt8>) throws(JSONError) {
    isEscaped = true
    switch JSONByte.at(end + 1, in: text) {
    case JSONByte.quote, JSONByte.backslash, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74:
      end += 2
      saved += 1
    case JSONByte.letterU:
      guard let unit = JSONEscape.unit(in: text, at: end) else {
        throw JSONError(code: .invalidJSON, offset: end)
      }
      guard let scalar = JSONEscape.scalar(in: text, at: end, first: unit) else {
        throw JSONError(code: .invalidUTF8, offset: end)
      }
      let length = scalar.value > 0xFFFF ? 12 : 6
      end += length
      saved += length - UTF8.width(scalar)
    default: throw JSONError(code: .invalidJSON, offset: end)
    }
  }
}
