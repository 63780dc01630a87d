/// A pattern that was examined before RE2 compiles it. The examination finds constructs that RE2 lacks, so that an
/// error can name them, and estimates the size of the program, which RE2 determines too late.
///
/// It does not check that the pattern is well formed.
package struct ScannedPattern: Sendable {
  /// The pattern in RE2's syntax.
  package private(set) var text = ""
  /// The estimated number of instructions of its program; it can be a few times too low or too high.
  package private(set) var size = 0
  /// Whether the pattern may test for the end of the text. It can be wrongly true, but never wrongly false.
  private(set) var mayEndText = false

  /// The bytes of the pattern.
  let bytes: [UInt8]
  /// The index of the next byte.
  var index = 0
  private var output: [UInt8] = []
  /// The open groups, the outermost first.
  private var groups = [Extent()]
  /// The part that a quantifier would repeat.
  private var last = Extent()

  /// The size of a part of a pattern.
  private struct Extent {
    /// The number of instructions.
    var size = 0
    /// The number of optional copies, as in `a{2,5}`. The time to compile them grows with the square of this number.
    var optional = 0

    static func + (left: Extent, right: Extent) -> Extent {
      Extent(
        size: ScannedPattern.sum(left.size, right.size),
        optional: ScannedPattern.sum(left.optional, right.optional))
    }
  }

  /// Examines a pattern.
  /// - Throws: `notOffered`, `tooLarge`.
  package init(_ pattern: String) throws(RegularExpressionError) {
    bytes = Array(pattern.utf8)
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\\"): try escape()
      case UInt8(ascii: "["): try bracket()
      case UInt8(ascii: "("): try open()
      case UInt8(ascii: ")"): close()
      case UInt8(ascii: "|"):
        copy(1)
        atom(1)
      case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"): try quantifier(1)
      case UInt8(ascii: "{"): try counted()
      default:
        if byte == UInt8(ascii: "$") { mayEndText = true }
        copy(1)
        atom(byte == UInt8(ascii: ".") ? Self.dotSize : byte < 0x80 ? 1 : 4)
      }
    }
    let whole = groups.reduce(Extent(), +)
    let (square, overflow) = whole.optional.multipliedReportingOverflow(by: whole.optional)
    size = overflow ? .max : Self.sum(whole.size, square / Self.squarePart)
    guard size <= RegularExpression.programSize else { throw .tooLarge }
    text = String(decoding: output, as: UTF8.self)
  }

  /// The instructions for any character, for a negated class, and for characters beyond ASCII in a class.
  private static let dotSize = 8
  /// The instructions for the characters of a property. The largest property, all letters, has 1,200.
  private static let propertySize = 1_200

  /// The square of the number of optional copies is divided by this: 2,000 copies take as long to compile as 8,000
  /// instructions.
  private static let squarePart = 512

  /// The byte at `index + ahead`; nil after the end.
  func peek(_ ahead: Int = 0) -> UInt8? { index + ahead < bytes.count ? bytes[index + ahead] : nil }

  /// Whether the text is next in the pattern.
  func isNext(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[index...].starts(with: $0) }
  }

  private mutating func copy(_ count: Int) {
    output += bytes[index..<min(index + count, bytes.count)]
    index = min(index + count, bytes.count)
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }

  private static func product(_ left: Int, _ right: Int) -> Int {
    let (product, overflow) = left.multipliedReportingOverflow(by: right)
    return overflow ? .max : product
  }

  private mutating func atom(_ size: Int) { add(Extent(size: size)) }

  private mutating func add(_ extent: Extent) {
    last = extent
    groups[groups.count - 1] = groups[groups.count - 1] + extent
  }

  // Groups.

  private mutating func open() throws(RegularExpressionError) {
    if let name = unofferedGroup { throw .notOffered(name) }
    groups.append(Extent(size: 2))
    last = Extent()
    if isNext("(?<") {
      // RE2's syntax for a named group, for which Perl also allows `(?<`.
      output += Array("(?P<".utf8)
      index += 3
    } else if isNext("(?") {
      copy(2)
    } else {
      copy(1)
    }
  }

  private mutating func close() {
    copy(1)
    guard groups.count > 1, let group = groups.popLast() else { return }
    add(group)
  }

  // Quantifiers.

  private mutating func quantifier(
    _ count: Int, _ range: ClosedRange<Int> = 0...1
  ) throws(RegularExpressionError) {
    copy(count)
    if peek() == UInt8(ascii: "+") { throw .notOffered("a possessive quantifier") }
    let more = range.upperBound - range.lowerBound
    let further = Extent(
      size: Self.sum(Self.product(Self.sum(last.size, 1), max(range.upperBound - 1, 0)), 1),
      optional: Self.sum(Self.product(last.optional, max(range.upperBound - 1, 0)), more))
    let once = last
    add(further)
    last = once + further
    if peek() == UInt8(ascii: "?") { copy(1) }
  }

  /// Reads `{3}`, `{3,}` or `{3,5}`; any other text after `{` is literal.
  private mutating func counted() throws(RegularExpressionError) {
    var (numbers, count, digits) = ([0], 1, 0)
    while let byte = peek(count), byte != UInt8(ascii: "}"), count <= 20 {
      if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        let more = min(numbers[numbers.count - 1], 100_000) * 10 + Int(byte - UInt8(ascii: "0"))
        numbers[numbers.count - 1] = more
        digits += 1
      } else if byte == UInt8(ascii: ","), digits > 0, numbers.count == 1 {
        numbers.append(0)
      } else {
        digits = 0
        break
      }
      count += 1
    }
    guard peek(count) == UInt8(ascii: "}"), digits > 0 else {
      copy(1)
      return atom(1)
    }
    // `{3,}` has one more copy, which repeats. RE2 refuses an invalid range.
    let most = numbers.count == 1 ? numbers[0] : max(numbers[1], numbers[0] + 1)
    try quantifier(count + 1, numbers[0]...most)
  }

  // Classes.

  /// Reads a class in brackets; a `]` at its beginning is literal.
  private mutating func bracket() throws(RegularExpressionError) {
    var size = 2
    copy(1)
    if peek() == UInt8(ascii: "^") {
      size = Self.dotSize
      copy(1)
    }
    if peek() == UInt8(ascii: "]") { copy(1) }
    while let byte = peek(), byte != UInt8(ascii: "]") {
      if byte == UInt8(ascii: "\\") {
        if let name = unofferedEscape(isInClass: true) { throw .notOffered(name) }
        size += escapeSize
        copy(2)
      } else if isNext("[:") {
        size += Self.dotSize
        copy(2)
        while peek() != nil, peek() != UInt8(ascii: "]") { copy(1) }
        copy(1)
      } else {
        size += byte < 0x80 ? 1 : Self.dotSize
        copy(1)
      }
    }
    copy(1)
    atom(size)
  }

  // Escapes.

  private mutating func escape() throws(RegularExpressionError) {
    guard !isNext("\\Q") else { return quote() }
    if let name = unofferedEscape(isInClass: false) { throw .notOffered(name) }
    if isNext("\\z") { mayEndText = true }
    let size = escapeSize
    copy(2)
    // The letter of `\\pL` belongs to the escape, and the braces of `\\p{L}` and `\\x{41}` are not a quantifier.
    let isProperty = size == Self.propertySize
    if isProperty || bytes[index - 1] == UInt8(ascii: "x"), peek() == UInt8(ascii: "{") {
      while peek() != nil, peek() != UInt8(ascii: "}") { copy(1) }
      copy(1)
    } else if isProperty {
      copy(1)
    }
    atom(size)
  }

  private var escapeSize: Int {
    switch peek(1) {
    case UInt8(ascii: "p"), UInt8(ascii: "P"): Self.propertySize
    case UInt8(ascii: "D"), UInt8(ascii: "S"), UInt8(ascii: "W"): Self.dotSize
    default: 2
    }
  }

  /// Reads literal text up to `\E` or the end.
  private mutating func quote() {
    copy(2)
    while peek() != nil, !isNext("\\E") {
      copy(1)
      atom(1)
    }
    if peek() == nil { output += Array("\\E".utf8) } else { copy(2) }
  }

  // MARK: The constructs of Perl (PCRE) that RE2 lacks, with the names that clients get

  /// The name of the construct, when an unsupported group begins here.
  var unofferedGroup: String? {
    if isNext("(*") { return "a verb such as (*FAIL)" }
    guard isNext("(?"), let kind = peek(2) else { return nil }
    switch kind {
    case UInt8(ascii: "="), UInt8(ascii: "!"): return "look-ahead"
    case UInt8(ascii: "<"):
      let isBehind = peek(3) == UInt8(ascii: "=") || peek(3) == UInt8(ascii: "!")
      return isBehind ? "look-behind" : nil
    case UInt8(ascii: ">"): return "an atomic group"
    case UInt8(ascii: "|"): return "a branch reset"
    case UInt8(ascii: "("): return "a conditional group"
    case UInt8(ascii: "#"): return "a comment"
    case UInt8(ascii: "'"): return "a group named in quotes"
    case UInt8(ascii: "C"): return "a callout"
    case UInt8(ascii: "R"), UInt8(ascii: "&"), UInt8(ascii: "+"): return "recursion"
    case UInt8(ascii: "P"):
      if peek(3) == UInt8(ascii: "=") { return "a back-reference" }
      return peek(3) == UInt8(ascii: ">") ? "recursion" : nil
    default:
      let number = kind == UInt8(ascii: "-") ? peek(3) : kind
      return number.map(Self.isDigit) ?? false ? "recursion" : unofferedFlag
    }
  }

  private var unofferedFlag: String? {
    for ahead in 2..<12 {
      switch peek(ahead) {
      case UInt8(ascii: "i"), UInt8(ascii: "m"), UInt8(ascii: "s"), UInt8(ascii: "U"),
        UInt8(ascii: "-"):
        continue
      case UInt8(ascii: "x"): return "the flag x"
      case UInt8(ascii: "J"): return "the flag J"
      case UInt8(ascii: "n"): return "the flag n"
      default: return nil
      }
    }
    return nil
  }

  /// The name of the construct, when an unsupported escape begins here.
  func unofferedEscape(isInClass: Bool) -> String? {
    guard let letter = peek(1) else { return nil }
    let isReference =
      letter == UInt8(ascii: "k") || letter == UInt8(ascii: "g")
      || (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(letter)
    // In a class, digits are an octal number.
    if isReference, !isInClass { return "a back-reference" }
    return Self.escapes.utf8.contains(letter)
      ? "\\" + String(decoding: [letter], as: UTF8.self) : nil
  }

  /// The letters of unsupported escapes. `\C` is one byte, which can be half a character.
  private static let escapes = "CEGHKNRVXZcehou"

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
