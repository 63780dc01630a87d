/// One string of a text, checked: its extent, and whether it has escapes.
struct JSONStringScan {
  /// The byte offset after the closing quotation mark.
  private(set) var end: Int

  /// Whether the string has escapes, so that its bytes are not its characters.
  private(set) var isEscaped = false

  /// The bytes that resolving the escapes saves.
  private var saved = 0

  /// Checks the string whose opening quotation mark is at `start`.
  ///
  /// - Parameter limit: The most bytes of UTF-8 that the string may have without its escapes.
  init(_ text: Span<UInt8>, from start: Int, limit: Int) throws(JSONError) {
    end = start + 1
    while true {
      // No further than shows that it is too long.
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

  /// Passes over plain ASCII, eight bytes at a time; the last bytes of a text are left to the
  /// caller.
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

  /// Passes over one sequence of UTF-8 bytes, by table 3-7 of the Unicode Standard: shortest form
  /// only, no surrogates, nothing past U+10FFFF.
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
    default:
      throw JSONError(code: .invalidJSON, offset: end)
    }
  }
}
