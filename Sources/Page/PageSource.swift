/// Removes comments and indentation from the source files of the page.
///
/// The rules look only at lines and do not parse the languages. So the source files must follow the rules
/// below; the browser tests load each of them.
package enum PageSource {
  /// A JavaScript file without comment lines, empty lines and indentation, and without line breaks after `{`,
  /// `(`, `[` and `,` and before `}`, `)` and `]`, where they have no meaning, and without spaces beside ``signs``.
  ///
  /// A line is a comment if it begins with `//`, `/*`, `* ` or `*/`, or is `*`. No template literal may contain a line
  /// break. A line that contains `//` keeps its line break, because a comment may end there.
  package static func script(_ text: [UInt8]) -> [UInt8] {
    joined(text, part: withoutSpaces) { line in
      !line.starts(with: "//".utf8) && !line.starts(with: "/*".utf8)
        && !line.elementsEqual("*".utf8) && !line.starts(with: "* ".utf8)
        && !line.starts(with: "*/".utf8)
    } goesOn: { line, next in
      guard let last = line.last,
        "{([,".utf8.contains(last) || next.first.map("})]".utf8.contains) ?? false
      else { return false }
      return !zip(line, line.dropFirst()).contains { $0 == $1 && $0 == UInt8(ascii: "/") }
    }
  }

  /// The signs beside which a script needs no spaces.
  private static let signs = Set("{}()[],;:=<>?|&!".utf8)

  /// A line without the spaces beside ``signs`` that are outside of texts. What follows a slash outside of texts stays,
  /// because it may be a regular expression or a comment.
  private static func withoutSpaces(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    /// The quotes and braces that are open.
    var open: [UInt8] = []
    var index = line.startIndex
    while index < line.endIndex {
      let byte = line[index]
      let next = index + 1 < line.endIndex ? line[index + 1] : nil
      index += 1
      if let quote = open.last, "\"'`".utf8.contains(quote) {
        let isPair = byte == UInt8(ascii: "\\") || line[(index - 1)...].starts(with: "${".utf8)
        if byte == quote { open.removeLast() }
        if isPair, let next {
          result += [byte, next]
          index += 1
          if next == UInt8(ascii: "{"), quote == UInt8(ascii: "`") { open.append(next) }
          continue
        }
      } else if byte == UInt8(ascii: "/") {
        return result + line[(index - 1)...]
      } else if "\"'`{".utf8.contains(byte) {
        open.append(byte)
      } else if byte == UInt8(ascii: "}") {
        _ = open.popLast()
      } else if byte == UInt8(ascii: " "),
        result.last.map(signs.contains) ?? false || next.map(signs.contains) ?? false
      {
        continue
      }
      result.append(byte)
    }
    return result
  }

  /// A style sheet without comment lines, empty lines, indentation and line breaks after `}`. Also removed
  /// are spaces after `:`, `;`, `,`, `{`, `}` and before `{` and `}`, and a `;` before `}`.
  ///
  /// No string in a sheet may contain such a space. A space before `:` stays, because it has a meaning in a
  /// selector.
  package static func style(_ text: [UInt8]) -> [UInt8] {
    let lines = joined(text, part: Array.init) {
      !$0.starts(with: "/*".utf8) || !$0.suffix(2).elementsEqual("*/".utf8)
    } goesOn: { _, _ in
      false
    }
    var style: [UInt8] = []
    style.reserveCapacity(lines.count)
    for byte in lines {
      switch byte {
      case UInt8(ascii: " "):
        if let last = style.last, isSpaceFree(last) { continue }
      case UInt8(ascii: "\n"):
        if style.last == UInt8(ascii: "}") { continue }
      case UInt8(ascii: "{"), UInt8(ascii: "}"):
        if style.last == UInt8(ascii: " ") { style.removeLast() }
        if byte == UInt8(ascii: "}"), style.last == UInt8(ascii: ";") { style.removeLast() }
      default: break
      }
      style.append(byte)
    }
    return style
  }

  private static func isSpaceFree(_ byte: UInt8) -> Bool {
    ":;,{}\n".utf8.contains(byte)
  }

  private static func joined(
    _ text: [UInt8], part: (ArraySlice<UInt8>) -> [UInt8],
    where isKept: (ArraySlice<UInt8>) -> Bool,
    goesOn: (_ line: ArraySlice<UInt8>, _ next: ArraySlice<UInt8>) -> Bool
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    let lines = text.split(separator: UInt8(ascii: "\n"))
      .map { line in line.drop { $0 == UInt8(ascii: " ") } }
      .filter { !$0.isEmpty && isKept($0) }
    for (index, line) in lines.enumerated() {
      result += part(line)
      let next = index + 1 < lines.count ? lines[index + 1] : []
      if !goesOn(line, next) { result.append(UInt8(ascii: "\n")) }
    }
    return result
  }
}
