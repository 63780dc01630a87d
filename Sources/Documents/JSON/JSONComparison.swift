/// Comparison of values as readers see them that hold numbers as doubles, as JavaScript and Erlang do.
extension JSONNode {
  /// Whether two values are the same: strings by their characters, numbers as doubles, objects whatever the order of
  /// their members. So `1000`, `1e3` and `1000.0` are the same, and `0` and `-0`.
  package func hasSameValue(as other: JSONNode) -> Bool {
    let (one, two) = (canonical, other.canonical)
    return JSONComparison.isSame(one.span, two.span)
  }
}

/// Compares canonical texts side by side. They differ only where the values differ, or where a number is spelled in
/// another way.
private enum JSONComparison {
  static func isSame(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    var (left, right) = (0, 0)
    var (isInString, isEscaped) = (false, false)
    while left < one.count, right < other.count {
      let byte = one[left]
      if !isInString, isNumber(byte), isNumber(other[right]) {
        let ends = (
          JSONScan.endOfNumber(at: left, in: one), JSONScan.endOfNumber(at: right, in: other)
        )
        guard isSameNumber(one, left..<ends.0, other, right..<ends.1) else { return false }
        (left, right) = ends
        continue
      }
      guard byte == other[right] else { return false }
      if isEscaped {
        isEscaped = false
      } else if byte == JSONByte.quote {
        isInString.toggle()
      } else {
        isEscaped = isInString && byte == JSONByte.backslash
      }
      left += 1
      right += 1
    }
    return left == one.count && right == other.count
  }

  /// Whether a byte begins a number.
  private static func isNumber(_ byte: UInt8) -> Bool {
    byte == JSONByte.minus || JSONByte.isDigit(byte)
  }

  private static func isSameNumber(
    _ one: Span<UInt8>, _ first: Range<Int>, _ other: Span<UInt8>, _ second: Range<Int>
  ) -> Bool {
    if JSONBytes.same(one, first, other, second) { return true }
    guard let left = double(one, first), let right = double(other, second) else { return false }
    return left == right
  }

  private static func double(_ text: Span<UInt8>, _ range: Range<Int>) -> Double? {
    JSONNumber(checked: String(decoding: range.map { text[$0] }, as: UTF8.self)).double
  }
}
