/// The escapes of a JSON string (RFC 8259 section 7), read and written.
enum JSONEscape {
  /// The UTF-16 code unit that the escape `\uXXXX` at `offset` writes; `nil` if it is not one.
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

  /// The scalar whose escape, of one or two code units, starts at `offset` with the unit `first`;
  /// `nil` for a surrogate without its pair.
  static func scalar(in text: Span<UInt8>, at offset: Int, first: UInt16) -> Unicode.Scalar? {
    guard 0xD800...0xDBFF ~= first else { return Unicode.Scalar(first) }
    guard let second = unit(in: text, at: offset + 6), 0xDC00...0xDFFF ~= second else {
      return nil
    }
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

  /// Appends a string in quotation marks with the fewest escapes: those that RFC 8785 section
  /// 3.2.2.2 asks for.
  static func appendQuoted(_ content: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    output.append(JSONByte.quote)
    var run = 0
    for (index, byte) in content.enumerated() {
      guard byte < 0x20 || byte == JSONByte.quote || byte == JSONByte.backslash else { continue }
      output.append(contentsOf: content[run..<index])
      run = index + 1
      output.append(JSONByte.backslash)
      if let letter = letter(for: byte) {
        output.append(letter)
      } else {
        output.append(contentsOf: [JSONByte.letterU, 0x30, 0x30, 0x30 + byte >> 4])
        output.append(hexadecimalDigit(byte & 0xF))
      }
    }
    output.append(contentsOf: content[run..<content.count])
    output.append(JSONByte.quote)
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
