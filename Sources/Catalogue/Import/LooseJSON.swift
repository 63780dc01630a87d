import Documents

/// JSON as Python and JavaScript write it, and people who edit it by hand: with `NaN` and `Infinity`, and with a comma
/// after the last value.
enum LooseJSON {
  /// A row's text, parsed as it is or as ``strict(_:)`` makes it.
  static func parsed(_ text: [UInt8]) throws(JSONError) -> ParsedJSON {
    do { return try ParsedJSON(text, limits: HotelRow.limits) } catch {
      guard error.code == .invalidJSON, let strict = strict(text),
        let parsed = try? ParsedJSON(strict, limits: HotelRow.limits)
      else { throw error }
      return parsed
    }
  }

  /// The text as RFC 8259 has it: `null` for what is no number, no commas before a closing bracket. Nil if there is
  /// nothing of both.
  static func strict(_ text: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var (string, isInString, isChanged) = (StringScan(), false, false)
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      if isInString {
        isInString = !string.ends(at: byte)
        result.append(byte)
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: ","):
        let next = text[index...].first { !RowScan.isSpace($0) }
        if next == UInt8(ascii: "}") || next == UInt8(ascii: "]") {
          isChanged = true
          continue
        }
      case UInt8(ascii: "N"), UInt8(ascii: "I"), UInt8(ascii: "-"):
        let rest = text[(index - 1)...]
        if let word = notNumbers.first(where: { rest.starts(with: $0) }) {
          result += "null".utf8
          index += word.count - 1
          isChanged = true
          continue
        }
      default: break
      }
      result.append(byte)
    }
    return isChanged ? result : nil
  }

  private static let notNumbers = ["NaN", "Infinity", "-Infinity"].map { Array($0.utf8) }

  /// What may be meant where a text is no JSON: a sentence with a space before it, or nothing.
  static func hint(at offset: Int, in text: [UInt8]) -> String {
    guard text.indices.contains(offset) else { return "" }
    switch text[offset] {
    case UInt8(ascii: "/"): return " JSON has no comments."
    case UInt8(ascii: "'"), UInt8(ascii: "_"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      let rest = text[offset...].drop { (0x41...0x7A).contains($0) }
      return rest.first == UInt8(ascii: "(")
        ? " Objects of programs are no JSON; mongoexport writes MongoDB's as JSON."
        : " Names and texts need double quotation marks."
    default: return ""
    }
  }
}
