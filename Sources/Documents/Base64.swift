/// Base64 with padding (RFC 4648 section 4), in which CouchDB writes attachments and their digests.
package enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  fileprivate static let padding = UInt8(ascii: "=")
  /// What a byte has in ``values`` that is no digit.
  fileprivate static let none: UInt8 = 0xFF
  /// The value of each digit, by its byte.
  fileprivate static let values: [UInt8] = {
    var values = [UInt8](repeating: none, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// Appends encoded bytes. A text of several pieces needs pieces of a multiple of 3 bytes, except the last.
  package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = UInt32(bytes[start]) << 16
      if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[start + 2]) }
      for digit in 0...3 {
        output.append(digit > count ? padding : digits[Int(group >> UInt32(18 - 6 * digit) & 63)])
      }
    }
  }

  package static func string(_ bytes: [UInt8]) -> String {
    var output: [UInt8] = []
    append(bytes, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Decodes a text; nil for any other.
  package static func bytes(_ text: [UInt8]) -> [UInt8]? {
    var decoder = Decoder()
    guard let start = decoder.decode(text[...]), let end = decoder.finish() else { return nil }
    return start + end
  }

  fileprivate static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Decodes a text in parts. As in CouchDB, white space is ignored.
  package struct Decoder: Sendable {
    private var group: UInt32 = 0
    private var count = 0
    private var pads = 0

    package init() {}

    /// Decodes the next part. A sequence of any type instead of a slice would cost 30 times as much in other modules.
    /// - Returns: nil for a character that may not come here.
    package mutating func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
      let values = Base64.values
      var output: [UInt8] = []
      output.reserveCapacity(text.count / 4 * 3 + 3)
      for byte in text {
        let value = values[Int(byte)]
        if value == Base64.none {
          guard byte == Base64.padding || Base64.isSpace(byte) else { return nil }
          if byte == Base64.padding { pads += 1 }
          continue
        }
        guard pads == 0 else { return nil }
        group = group << 6 | UInt32(value)
        count += 1
        guard count == 4 else { continue }
        output.append(UInt8(truncatingIfNeeded: group >> 16))
        output.append(UInt8(truncatingIfNeeded: group >> 8))
        output.append(UInt8(truncatingIfNeeded: group))
        (group, count) = (0, 0)
      }
      return output
    }

    /// Ends the text.
    /// - Returns: the bytes that the last digits have; nil for missing padding, and for set bits beyond the last byte.
    package func finish() -> [UInt8]? {
      switch (count, pads) {
      case (0, 0): []
      case (2, 2) where group & 0xF == 0: [UInt8(truncatingIfNeeded: group >> 4)]
      case (3, 1) where group & 0x3 == 0:
        [UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)]
      default: nil
      }
    }
  }
}
