/// The words, numbers, texts and signs of a script. Spaces and comments are between them.
struct ScriptToken {
  enum Kind { case name, other, text, sign }

  let kind: Kind
  let range: Range<Int>
  /// Whether the token begins its line.
  let beginsLine: Bool
  /// The innermost bracket that is open before it; nil at the top.
  var opener: Int?
  /// The bracket that closes this one, and the one that this one closes.
  var closer: Int?
  var closes: Int?

  /// The tokens of a script. A slash is a division after a name, a number, a text or a closing bracket; else a regular
  /// expression begins. In a template, `${` and `}` belong to the texts beside them.
  static func all(of script: [UInt8]) -> [ScriptToken] {
    var scanner = ScriptScanner(script: script)
    while scanner.readNext() {}
    return scanner.tokens
  }
}

struct ScriptScanner {
  let script: [UInt8]
  var tokens: [ScriptToken] = []
  private var index = 0
  /// The brackets that are open, by token.
  private var open: [Int] = []

  init(script: [UInt8]) { self.script = script }

  /// The words after which a slash begins a regular expression.
  private static let words = ["return", "of", "case"].map { Array($0.utf8) }

  private func byte(_ at: Int) -> UInt8? { at < script.count ? script[at] : nil }

  /// Reads a token, or spaces or a comment. False at the end.
  mutating func readNext() -> Bool {
    guard let first = byte(index) else { return false }
    let start = index
    index += 1
    switch first {
    case UInt8(ascii: " "), UInt8(ascii: "\n"): return true
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      skip(to: first)
      add(.text, start)
    case UInt8(ascii: "`"): readTemplate(start)
    case UInt8(ascii: "/"): readSlash(start)
    case _ where Self.isWord(first) || first == UInt8(ascii: "#"):
      while let next = byte(index), Self.isWord(next) { index += 1 }
      add(first < UInt8(ascii: "0") || first > UInt8(ascii: "9") ? .name : .other, start)
    default: readSign(first, start)
    }
    return true
  }

  /// Whether a byte is of a name or a number.
  static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
      true
    default: false
    }
  }

  private mutating func add(_ kind: ScriptToken.Kind, _ start: Int) {
    let beginsLine = start == 0 || script[start - 1] == UInt8(ascii: "\n")
    tokens.append(
      ScriptToken(kind: kind, range: start..<index, beginsLine: beginsLine, opener: open.last))
  }

  /// Skips a text with escapes up to its end.
  private mutating func skip(to end: UInt8) {
    while let next = byte(index), next != end { index += next == UInt8(ascii: "\\") ? 2 : 1 }
    index += 1
  }

  /// Reads a template, or its rest after `}`, up to its end or to `${`.
  private mutating func readTemplate(_ start: Int) {
    while let next = byte(index) {
      index += next == UInt8(ascii: "\\") ? 2 : 1
      if next == UInt8(ascii: "`") { return add(.text, start) }
      if next == UInt8(ascii: "$"), byte(index) == UInt8(ascii: "{") {
        index += 1
        add(.text, start)
        return open.append(tokens.count - 1)
      }
    }
  }

  private mutating func readSlash(_ start: Int) {
    if byte(index) == UInt8(ascii: "/") {
      while let next = byte(index), next != UInt8(ascii: "\n") { index += 1 }
    } else if byte(index) == UInt8(ascii: "*") {
      while let next = byte(index),
        next != UInt8(ascii: "*") || byte(index + 1) != UInt8(ascii: "/")
      {
        index += 1
      }
      index += 2
    } else if endsValue {
      add(.sign, start)
    } else {
      var isClass = false
      while let next = byte(index), isClass || next != UInt8(ascii: "/") {
        if next == UInt8(ascii: "[") { isClass = true }
        if next == UInt8(ascii: "]") { isClass = false }
        index += next == UInt8(ascii: "\\") ? 2 : 1
      }
      index += 1
      while let next = byte(index), Self.isWord(next) { index += 1 }
      add(.text, start)
    }
  }

  /// Whether what was read last is a value, or its end.
  private var endsValue: Bool {
    guard let last = tokens.last else { return false }
    if last.kind == .sign { return ")]}".utf8.contains(script[last.range.lowerBound]) }
    return !Self.words.contains { script[last.range].elementsEqual($0) }
  }

  private mutating func readSign(_ sign: UInt8, _ start: Int) {
    if ")]}".utf8.contains(sign), let opener = open.popLast() {
      if tokens[opener].kind == .text {
        readTemplate(start)
      } else {
        add(.sign, start)
      }
      let closer = tokens.count - 1
      tokens[opener].closer = closer
      tokens[closer].closes = opener
      return
    }
    add(.sign, start)
    if "([{".utf8.contains(sign) { open.append(tokens.count - 1) }
  }
}
