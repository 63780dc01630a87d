/// A number exactly as a text writes it: `1`, `1.0` and `10e-1` are three different values, so that an answer contains
/// what was stored.
package struct JSONNumber: Sendable, Hashable {
  /// The number in the grammar of RFC 8259 section 6, in ASCII.
  package let text: String

  /// An integer in decimal.
  package init(_ integer: Int) { text = String(integer) }

  /// Makes a number from its text; nil when the text is not exactly one JSON number within the limits of
  /// ``JSONLimits/document``.
  package init?(text: String) {
    let bytes = Array(text.utf8)
    guard let end = try? Self.end(in: bytes.span, from: 0, limits: .document), end == bytes.count
    else { return nil }
    self.text = text
  }

  /// Makes a number that a parser has checked.
  init(checked text: String) { self.text = text }

  /// The value, when it is written without a point or an exponent and fits into `Int`; otherwise nil.
  package var int: Int? { Int(text) }

  /// The nearest double: for arithmetic only, never for stored values. It is never nil, and for a number within the
  /// default limits never infinite.
  package var double: Double? { Double(text) }

  /// The offset after the number that begins at `start`.
  /// - Throws: ``JSONError/Code/invalidJSON`` at the byte that the grammar does not allow, and
  ///   ``JSONError/Code/numberOutOfRange`` at the start of a number that exceeds the limits.
  static func end(
    in text: Span<UInt8>, from start: Int, limits: JSONLimits
  ) throws(JSONError) -> Int {
    let first = JSONByte.at(start, in: text) == JSONByte.minus ? start + 1 : start
    var end = try digits(text, first, of: start)
    let startsWithZero = JSONByte.at(first, in: text) == 0x30
    if startsWithZero, end != first + 1 { throw JSONError(code: .invalidJSON, offset: first + 1) }
    // The number of digits from the first nonzero digit on, and that digit's decimal place.
    var significant = end - first
    var place = startsWithZero ? 0 : significant - 1
    if JSONByte.at(end, in: text) == JSONByte.point {
      let fraction = end + 1
      end = try digits(text, fraction, of: start)
      significant += end - fraction
      if startsWithZero {
        var nonzero = fraction
        while JSONByte.at(nonzero, in: text) == 0x30 { nonzero += 1 }
        if nonzero < end {
          significant = end - nonzero
          place = fraction - nonzero - 1
        }
      }
    }
    var exponent = 0
    if JSONByte.at(end, in: text) | 0x20 == 0x65 {
      let sign = JSONByte.at(end + 1, in: text)
      let from = sign == 0x2B || sign == JSONByte.minus ? end + 2 : end + 1
      end = try digits(text, from, of: start)
      exponent = value(text, from..<end) * (sign == JSONByte.minus ? -1 : 1)
      significant = max(significant, end - from)
    }
    let scale = place + exponent
    let exponents = JSONLimits.exponents
    guard significant <= limits.maximumNumberDigits, exponents.contains(place),
      exponents.contains(scale),
      scale > exponents.lowerBound && scale < exponents.upperBound || !limits.needsDouble
        || isDouble(text, start..<end)
    else { throw JSONError(code: .numberOutOfRange, offset: start) }
    return end
  }

  /// Whether the number's nearest double is finite, and 0 only for a number that is 0.
  private static func isDouble(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let number = String(decoding: range.map { text[$0] }, as: UTF8.self)
    guard let double = Double(number), double.isFinite else { return false }
    let digits = number.utf8.prefix { $0 | 0x20 != 0x65 }
    return double != 0 || !digits.contains { (0x31...0x39).contains($0) }
  }

  /// A run of this many digits is out of range under any limits.
  private static let manyDigits = 1 << 16

  /// The offset after the digits, at least one, that begin at `start`.
  /// - Parameter number: the offset at which their number begins.
  @inline(__always)
  private static func digits(
    _ text: Span<UInt8>, _ start: Int, of number: Int
  ) throws(JSONError) -> Int {
    var end = start
    while JSONByte.isDigit(JSONByte.at(end, in: text)) {
      end += 1
      guard end - start < manyDigits else {
        throw JSONError(code: .numberOutOfRange, offset: number)
      }
    }
    guard end > start else { throw JSONError(code: .invalidJSON, offset: start) }
    return end
  }

  /// The value of some digits. A value beyond a trillion is not computed further, because it is far outside any limit.
  private static func value(_ text: Span<UInt8>, _ range: Range<Int>) -> Int {
    var value = 0
    for index in range where value < 1_000_000_000_000 {
      value = value * 10 + Int(JSONByte.at(index, in: text) &- 0x30)
    }
    return value
  }
}
