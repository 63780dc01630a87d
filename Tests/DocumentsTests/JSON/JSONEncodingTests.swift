import Documents
import Testing

/// Which bytes are valid UTF-8.
@Suite struct JSONEncodingTests {
  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0xAF],
      [0xE0, 0x9F, 0xBF], [0xE0, 0xFF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xED, 0xA0, 0x81, 0xED, 0xB0, 0x80], [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF4, 0xBF, 0xBF, 0xBF],
      [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
      [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF],
      [0xFC, 0x80, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xE6, 0x97, 0x30], [0xE5],
      [0xC2, 0xC2, 0x80], [0xF1, 0x80, 0x80, 0x7F], [0xE1, 0x80, 0xC0],
    ] as [[UInt8]])
  func illFormedSequenceIsRefusedAtItsFirstByte(_ sequence: [UInt8]) {
    for lead in [0, 3, 8, 13] {
      let plain = [UInt8](repeating: 0x61, count: lead)
      let error = JSONError(code: .invalidUTF8, offset: lead + 1)
      #expect(JSONReading.fault([0x22] + plain + sequence + [0x22]) == error)
      #expect(JSONReading.fault([0x22] + plain + sequence) == error)
      #expect(JSONReading.fault([0x22] + plain + sequence + Array("aaaaaaaaa\"".utf8)) == error)
    }
  }

  @Test func everyPairOfLeadingBytesIsJudgedAsTheStandardLibraryDoes() {
    for first in UInt8(0x80)...0xFF {
      for second in stride(from: UInt8(0x60), through: 0xE0, by: 4).flatMap({ [$0, $0 | 0x0F] }) {
        for tail in 0...2 {
          let sequence = [first, second] + [UInt8](repeating: 0x80, count: tail)
          let isWellFormed = String(validating: sequence, as: UTF8.self) != nil
          #expect((JSONReading.fault([0x22] + sequence + [0x22]) == nil) == isWellFormed)
        }
      }
    }
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], [0xEF, 0xBB, 0xBF], [0xEF, 0xBB], [0xFF, 0xFE, 0x5B, 0x00],
      [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], [0xFE, 0xFF, 0x00, 0x5B, 0x00, 0x5D],
      [0x00, 0x5B, 0x00, 0x5D], [0x00, 0x00, 0xFE, 0xFF, 0x00, 0x00, 0x00, 0x5B],
    ] as [[UInt8]])
  func byteOrderMarkAndWiderEncodingsAreRefused(_ bytes: [UInt8]) {
    #expect(JSONReading.fault(bytes) == JSONError(code: .invalidJSON, offset: 0))
  }

  @Test func littleEndianUTF16WithoutMarkIsRefused() {
    let bytes: [UInt8] = [0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D, 0x00]
    #expect(JSONReading.fault(bytes) == JSONError(code: .invalidJSON, offset: 1))
  }

  @Test func everyScalarPassesThroughAsBytesAndAsEscapes() throws {
    let scalars = stride(from: UInt32(0x20), through: 0x10FFFF, by: 251).compactMap(
      Unicode.Scalar.init)
    var text = JSONWriter()
    text.string(String(String.UnicodeScalarView(scalars)))
    let root = try ParsedJSON(text.bytes, limits: .document).root
    #expect(root.string.map { Array($0.unicodeScalars) } == scalars)
    let escaped = scalars.flatMap { UTF16.encode($0).map(Array.init) ?? [] }.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    let other = try JSONReading.root("\"\(escaped.joined())\"")
    #expect(other.string.map { Array($0.unicodeScalars) } == scalars)
    #expect(other.canonical == root.canonical)
  }
}
