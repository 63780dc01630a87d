/// Removes comments and indentation from the source files of the page.
///
/// The rules look only at the tokens and lines of scripts, and at the bytes of style sheets; they do not parse the
/// languages. So the source files must follow the rules below; the browser tests load each of them.
package enum PageSource {
  /// A JavaScript file without comments and indentation, without line breaks after `{`, `(`, `[` and `,` and before `}`,
  /// `)`, `]`, `?`, `:`, `.`, `&&` and `||`, where they have no meaning, and without spaces beside ``signs`` and
  /// ``operators``. `let` stands for `const`, and one for several lines of declarations.
  ///
  /// No text may contain a line break.
  package static func script(_ text: [UInt8]) -> [UInt8] {
    let tokens = ScriptToken.all(of: text)
    let starts = tokens.indices.filter { index in
      index == 0
        || text[tokens[index - 1].range.upperBound..<tokens[index].range.lowerBound]
          .contains(UInt8(ascii: "\n"))
    }
    let lines = zip(starts, starts.dropFirst() + [tokens.count]).map {
      line(of: tokens[$0..<$1], in: text)
    }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var isListed = false
    for (index, (line, isWhole)) in lines.enumerated() {
      result +=
        isListed ? line.dropFirst("let".utf8.count).drop { $0 == UInt8(ascii: " ") } : line[...]
      isListed = false
      let next = index + 1 < lines.count ? lines[index + 1].bytes : []
      if goesOn(line, next) { continue }
      isListed = isWhole && isDeclaration(line) && isDeclaration(next)
      result.append(UInt8(ascii: isListed ? "," : "\n"))
    }
    return result
  }

  /// Whether the line break after a line has no meaning.
  private static func goesOn(_ line: [UInt8], _ next: [UInt8]) -> Bool {
    line.last.map("{([,".utf8.contains) ?? false
      || next.first.map("})]?:.".utf8.contains) ?? false
      || next.starts(with: "&&".utf8) || next.starts(with: "||".utf8)
  }

  private static func isDeclaration(_ line: [UInt8]) -> Bool {
    line.starts(with: "let".utf8) && !(line.dropFirst(3).first.map(ScriptScanner.isWord) ?? true)
  }

  /// The signs beside which a script needs no spaces.
  private static let signs = Set("{}()[],;:=<>?|&!".utf8)
  /// The signs beside which it needs none but between two of them: `a - -b`.
  private static let operators = Set("+-*/%".utf8)

  private static func needsSpace(between last: UInt8, and next: UInt8) -> Bool {
    if signs.contains(last) || signs.contains(next) { return false }
    return operators.contains(last) == operators.contains(next)
  }

  /// A line without the spaces that are not needed, and whether it ends all that it begins.
  private static func line(
    of tokens: ArraySlice<ScriptToken>, in text: [UInt8]
  ) -> (bytes: [UInt8], isWhole: Bool) {
    var (line, isWhole, end) = ([UInt8](), true, tokens.first?.range.lowerBound)
    for (index, token) in zip(tokens.indices, tokens) {
      let word = text[token.range]
      // A word after a regular expression would be its flags.
      if end != token.range.lowerBound, let last = line.last, let first = word.first,
        needsSpace(between: last, and: first)
          || tokens[index - 1].kind == .text && last == UInt8(ascii: "/") && token.kind != .sign
      {
        line.append(UInt8(ascii: " "))
      }
      let isConstant =
        word.elementsEqual("const".utf8) && line.last != UInt8(ascii: ".")
        && text[token.range.upperBound...].first == UInt8(ascii: " ")
      line += isConstant ? Array("let".utf8) : Array(word)
      isWhole =
        isWhole && !word.elementsEqual(";".utf8)
        && [token.closer, token.closes].allSatisfy { tokens.indices.contains($0 ?? index) }
      end = token.range.upperBound
    }
    return (line, isWhole)
  }

  /// A style sheet without comment lines, empty lines, indentation and line breaks after `{`, `}`, `;` and `,`. Also
  /// removed are spaces after `:`, `;`, `,`, `{`, `}`, `>` and before `{`, `}`, `>` and `!`, and a `;` before `}`.
  ///
  /// No string in a sheet may contain such a space. A space before `:` stays, because it has a meaning in a
  /// selector.
  package static func style(_ text: [UInt8]) -> [UInt8] {
    let lines = text.split(separator: UInt8(ascii: "\n"))
      .map { line in line.drop { $0 == UInt8(ascii: " ") } }
      .filter {
        !$0.isEmpty && !($0.starts(with: "/*".utf8) && $0.suffix(2).elementsEqual("*/".utf8))
      }
      .flatMap { $0 + [UInt8(ascii: "\n")] }
    var style: [UInt8] = []
    style.reserveCapacity(lines.count)
    for byte in lines {
      switch byte {
      case UInt8(ascii: " "):
        if let last = style.last, ":;,{}>\n".utf8.contains(last) { continue }
      case UInt8(ascii: "\n"):
        if let last = style.last, "{};,".utf8.contains(last) { continue }
      case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ">"), UInt8(ascii: "!"):
        if style.last == UInt8(ascii: " ") { style.removeLast() }
        if byte == UInt8(ascii: "}"), style.last == UInt8(ascii: ";") { style.removeLast() }
      default: break
      }
      style.append(byte)
    }
    return style
  }

}
