/// A second, simple implementation of RFC 8259: tells whether a text is JSON, without any limit. It accepts repeated
/// names. It shares no code with the parser, so that the two can disagree.
struct JSONGrammar {
  private let bytes: [UInt8]
  private var position = 0

  /// Whether the bytes are one JSON text in UTF-8, without a byte order mark, in which escaped surrogates form pairs.
  static func accepts(_ bytes: [UInt8]) -> Bool {
    guard String(validating: bytes, as: UTF8.self) != nil else { return false }
    var grammar = JSONGrammar(bytes: bytes)
    return grammar.value() && grammar.position == bytes.count
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ text: StaticString) -> Bool {
    let wanted = Array(text.description.utf8)
    guard bytes.dropFirst(position).starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func space() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  private mutating func value() -> Bool {
    space()
    defer { space() }
    switch next {
    case UInt8(ascii: "{"): return list("{", "}") { $0.member() }
    case UInt8(ascii: "["): return list("[", "]") { $0.value() }
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return take("true")
    case UInt8(ascii: "f"): return take("false")
    case UInt8(ascii: "n"): return take("null")
    default: return number()
    }
  }

  private mutating func list(
    _ open: StaticString, _ close: StaticString, _ element: (inout JSONGrammar) -> Bool
  ) -> Bool {
    guard take(open) else { return false }
    space()
    if take(close) { return true }
    repeat {
      guard element(&self) else { return false }
    } while take(",")
    return take(close)
  }

  private mutating func member() -> Bool {
    space()
    guard string() else { return false }
    space()
    return take(":") && value()
  }

  private mutating func digits() -> Bool {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    return position > start
  }

  private mutating func number() -> Bool {
    _ = take("-")
    guard take("0") || digits() else { return false }
    if take("."), !digits() { return false }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      return digits()
    }
    return true
  }

  private mutating func string() -> Bool {
    guard take("\"") else { return false }
    while let byte = next {
      if byte == UInt8(ascii: "\"") { return take("\"") }
      guard byte >= 0x20 else { return false }
      if byte == UInt8(ascii: "\\") {
        guard escape() else { return false }
      } else {
        position += 1
      }
    }
    return false
  }

  private mutating func escape() -> Bool {
    position += 1
    guard let byte = next else { return false }
    position += 1
    guard byte == UInt8(ascii: "u") else { return Array("\"\\/bfnrt".utf8).contains(byte) }
    guard let unit = unit() else { return false }
    switch unit {
    case 0xDC00...0xDFFF: return false
    case 0xD800...0xDBFF:
      guard take("\\u"), let low = self.unit() else { return false }
      return (0xDC00...0xDFFF).contains(low)
    default: return true
    }
  }

  private mutating func unit() -> Int? {
    guard bytes.count - position >= 4 else { return nil }
    defer { position += 4 }
    let text = bytes[position..<position + 4]
    guard text.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return Int(String(decoding: text, as: UTF8.self), radix: 16)
  }
}
