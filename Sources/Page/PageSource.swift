/// Removes comments and indentation from the source files of the page.
///
/// The rules look only at lines and do not parse the languages. So the source files must follow the rules
/// below; the browser tests load each of them.
package enum PageSource {
  /// A JavaScript file without comment lines, empty lines and indentation, and without line breaks after `{`,
  /// `(`, `[` and `,` and before `}`, `)`, `]`, `?`, `:`, `.`, `&&` and `||`, where they have no meaning, and without
  /// spaces beside ``signs`` and ``operators``. `let` stands for `const`, and one for several lines of declarations.
  ///
  /// A line is a comment if it begins with `//`, `/*`, `* ` or `*/`, or is `*`. No template literal may contain a line
  /// break. A line that contains `//` keeps its line break, because a comment may end there.
  package static func script(_ text: [UInt8]) -> [UInt8] {
    let lines = lines(of: text) { line in
      !line.starts(with: "//".utf8) && !line.starts(with: "/*".utf8)
        && !line.elementsEqual("*".utf8) && !line.starts(with: "* ".utf8)
        && !line.starts(with: "*/".utf8)
    }.map(withoutSpaces)
    let declaration = Array("let ".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var isListed = false
    for (index, (line, isWhole)) in lines.enumerated() {
      result += isListed ? line.dropFirst(declaration.count) : line[...]
      isListed = false
      let next = index + 1 < lines.count ? lines[index + 1].line : []
      if goesOn(line, next) { continue }
      isListed = isWhole && line.starts(with: declaration) && next.starts(with: declaration)
      result.append(UInt8(ascii: isListed ? "," : "\n"))
    }
    return result
  }

  /// Whether the line break after a line has no meaning.
  private static func goesOn(_ line: [UInt8], _ next: [UInt8]) -> Bool {
    guard let last = line.last,
      "{([,".utf8.contains(last) || next.first.map("})]?:.".utf8.contains) ?? false
        || next.starts(with: "&&".utf8) || next.starts(with: "||".utf8)
    else { return false }
    return !zip(line, line.dropFirst()).contains { $0 == $1 && $0 == UInt8(ascii: "/") }
  }

  /// The signs beside which a script needs no spaces.
  private static let signs = Set("{}()[],;:=<>?|&!".utf8)
  /// The signs beside which it needs none but between two of them: `a - -b`.
  private static let operators = Set("+-*%".utf8)

  private static func needsSpace(between last: UInt8?, and next: UInt8?) -> Bool {
    let beside = [last, next].compactMap { $0 }
    if beside.contains(where: signs.contains) { return false }
    return beside.filter(operators.contains).count != 1
  }

  /// A line without the spaces that are outside of texts and not needed, and whether it ends all that it begins. What
  /// follows a slash outside of texts stays, because it may be a regular expression or a comment.
  private static func withoutSpaces(_ line: ArraySlice<UInt8>) -> (line: [UInt8], isWhole: Bool) {
    var result: [UInt8] = []
    /// The quotes and brackets that are open.
    var open: [UInt8] = []
    var isWhole = true
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
        return (result + line[(index - 1)...], false)
      } else if "\"'`{([".utf8.contains(byte) {
        open.append(byte)
      } else if "})]".utf8.contains(byte) {
        if open.popLast() == nil { isWhole = false }
      } else if byte == UInt8(ascii: " ") {
        if result.hasWord("const") {
          result.replaceSubrange((result.count - "const".utf8.count)..., with: "let".utf8)
        }
        if !needsSpace(between: result.last, and: next) { continue }
      }
      result.append(byte)
    }
    return (result, isWhole && open.isEmpty && !result.contains(UInt8(ascii: ";")))
  }

  /// A style sheet without comment lines, empty lines, indentation and line breaks after `}`. Also removed
  /// are spaces after `:`, `;`, `,`, `{`, `}`, `>` and before `{`, `}`, `>` and `!`, and a `;` before `}`.
  ///
  /// No string in a sheet may contain such a space. A space before `:` stays, because it has a meaning in a
  /// selector.
  package static func style(_ text: [UInt8]) -> [UInt8] {
    let lines = lines(of: text) {
      !$0.starts(with: "/*".utf8) || !$0.suffix(2).elementsEqual("*/".utf8)
    }.flatMap { $0 + [UInt8(ascii: "\n")] }
    var style: [UInt8] = []
    style.reserveCapacity(lines.count)
    for byte in lines {
      switch byte {
      case UInt8(ascii: " "):
        if let last = style.last, ":;,{}>\n".utf8.contains(last) { continue }
      case UInt8(ascii: "\n"):
        if style.last == UInt8(ascii: "}") { continue }
      case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ">"), UInt8(ascii: "!"):
        if style.last == UInt8(ascii: " ") { style.removeLast() }
        if byte == UInt8(ascii: "}"), style.last == UInt8(ascii: ";") { style.removeLast() }
      default: break
      }
      style.append(byte)
    }
    return style
  }

  /// The lines that are kept, without indentation.
  private static func lines(
    of text: [UInt8], where isKept: (ArraySlice<UInt8>) -> Bool
  ) -> [ArraySlice<UInt8>] {
    text.split(separator: UInt8(ascii: "\n"))
      .map { line in line.drop { $0 == UInt8(ascii: " ") } }
      .filter { !$0.isEmpty && isKept($0) }
  }
}

extension [UInt8] {
  /// Whether the last word is this one.
  fileprivate func hasWord(_ word: String) -> Bool {
    guard suffix(word.utf8.count).elementsEqual(word.utf8) else { return false }
    let before = dropLast(word.utf8.count).last.map { Character(Unicode.Scalar($0)) }
    return !(before.map { $0.isLetter || $0.isNumber || ".$_#".contains($0) } ?? false)
  }
}
