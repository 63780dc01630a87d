/// The constructs of Perl's (PCRE's) that RE2 does not have, by the names that clients are told.
extension ScannedPattern {
  /// The name of the construct if a group that is not offered opens here.
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

  /// The name of the construct if an escape that is not offered stands here.
  func unofferedEscape(isInClass: Bool) -> String? {
    guard let letter = peek(1) else { return nil }
    let isReference =
      letter == UInt8(ascii: "k") || letter == UInt8(ascii: "g")
      || (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(letter)
    // In a class a number is an octal one.
    if isReference, !isInClass { return "a back-reference" }
    return Self.escapes.utf8.contains(letter)
      ? "\\" + String(decoding: [letter], as: UTF8.self) : nil
  }

  /// `\C` is one byte, which may be half a character.
  private static let escapes = "CEGHKNRVXZcehou"

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
