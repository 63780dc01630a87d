/// Reads the number in a price, in any currency: `£1,250.50 a night`, `€ 247,47`, `1.250 kr.`, `CHF 1'250.50`, `1 250 €`.
enum Price {
  /// The first number of a text; nil if there is none. A sign is not read: no price is negative.
  static func number(in text: String) -> Double? { numbers(in: text).first }

  /// The numbers of a text that count no nights, rooms or people: 148 of `4 nights from £148`. Nobody counts so by hundreds,
  /// and nothing but money has a currency before it: `120 night`, `EUR 80 night`.
  static func numbers(in text: String) -> [Double] {
    let scalars = Array(text.unicodeScalars)
    var (found, index) = ([Double](), 0)
    while let start = scalars[index...].firstIndex(where: { digit($0) != nil }) {
      let (value, end) = number(in: scalars, from: start)
      index = end
      let next = scalars[end...].drop { isSpace($0) || $0 == "-" }
      let word = next.prefix(while: \.properties.isAlphabetic)
      let isCounting =
        (value ?? 0) < 100 && StayWords.counts(String(String.UnicodeScalarView(word)))
        && !isMoney(scalars[..<start])
      let isTenThousands = next.first.map { ["万", "萬", "만"].contains($0) } ?? false
      if let value, !isCounting { found.append(value * (isTenThousands ? 10_000 : 1)) }
    }
    return found
  }

  /// Whether the text before a number ends with a currency.
  private static func isMoney(_ before: ArraySlice<Unicode.Scalar>) -> Bool {
    let end = before.reversed().drop { isSpace($0) || $0 == "." }
    if end.first?.properties.generalCategory == .currencySymbol { return true }
    let word = end.prefix(while: \.properties.isAlphabetic).reversed()
    return PriceWish.isCurrency(String(String.UnicodeScalarView(word)))
  }

  /// The number that begins with a digit, and where it ends.
  private static func number(
    in scalars: [Unicode.Scalar], from start: Int
  ) -> (value: Double?, end: Int) {
    var groups: [[UInt8]] = [[]]
    var separators: [Unicode.Scalar] = []
    var index = start
    while index < scalars.count {
      if let digit = digit(scalars[index]) {
        groups[groups.count - 1].append(digit)
      } else if isSeparator(scalars[index]), index + 1 < scalars.count,
        digit(scalars[index + 1]) != nil, joins(scalars, after: index)
      {
        separators.append(scalars[index])
        groups.append([])
      } else {
        break
      }
      index += 1
    }
    return (value(groups, separators), index)
  }

  /// A pattern of JavaScript for such a number of a folded text: the digits, and what multiplies them by ten thousand.
  static let pattern =
    "(?<!\\d|\\d[.,'’])(\\d+(?:(?:[.,'’]|\\s(?=\\d{3}(?!\\d)))\\d+)*)(?!\\d|[.,'’]\\d|\\s\\d{3}(?!\\d))([万萬만])?(?:(?<=\\d{3}(?:[.,]\\d\\d?)?[万萬만]?)|(?<=(?:\\p{Sc}|"
    + PriceWish.currencies + ")\\.? ?[\\d.,'’\\s]+)|(?![\\s-]*"
    + SaidWords.either(StayWords.counted) + SaidWords.end + "))"

  /// Marks between digits. Spaces separate only thousands.
  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    ".,'\u{2019}\u{66B}\u{66C}\u{FF0C}\u{FF0E}".unicodeScalars.contains(scalar) || isSpace(scalar)
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    [" ", "\u{A0}", "\u{202F}", "\u{2009}"].contains(scalar)
  }

  /// Whether the digits after a separator can continue the number. After a space these are exactly three.
  private static func joins(_ scalars: [Unicode.Scalar], after index: Int) -> Bool {
    guard isSpace(scalars[index]) else { return true }
    return scalars[(index + 1)...].prefix { digit($0) != nil }.count == 3
  }

  private static func value(_ groups: [[UInt8]], _ separators: [Unicode.Scalar]) -> Double? {
    var whole = groups
    var decimals: [UInt8] = []
    if let last = separators.last, isDecimal(last, separators, groups) {
      decimals = whole.removeLast()
    }
    var digits = whole.flatMap(\.self)
    if !decimals.isEmpty { digits += [UInt8(ascii: ".")] + decimals }
    return Double(String(decoding: digits, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Whether the last separator is before decimals. A mark that is there twice separates thousands, and so does a mark
  /// that is followed by three digits, if one to three stand before it and no other mark does.
  private static func isDecimal(
    _ last: Unicode.Scalar, _ separators: [Unicode.Scalar], _ groups: [[UInt8]]
  ) -> Bool {
    let others = separators.dropLast()
    guard ".,\u{66B}\u{FF0C}\u{FF0E}".unicodeScalars.contains(last), !others.contains(last)
    else { return false }
    guard groups[groups.count - 1].count == 3 else { return true }
    // `1.250` is a thousand and more in most spellings, `0.250` and `1,234.500` are not.
    return !others.isEmpty || groups[0].first == UInt8(ascii: "0") || groups[0].count > 3
  }

  /// The decimal digit in ASCII; nil for anything else. Digits of other scripts count.
  private static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
    if (0x30...0x39).contains(scalar.value) { return UInt8(scalar.value) }
    guard scalar.value > 0x7F, scalar.properties.generalCategory == .decimalNumber,
      let value = scalar.properties.numericValue
    else { return nil }
    return 0x30 + UInt8(value)
  }
}
