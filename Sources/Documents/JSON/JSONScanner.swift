/// Finds one member of a long JSON object while the text arrives, so that the text need not be in memory at once.
///
/// It finds where values begin and end, and checks nothing inside of them. ``rest`` is the text with a `0` for each
/// element of the member's array. Whoever parses the rest and every element has checked the whole text: a text that is not
/// JSON leaves a rest, or an element, that is not JSON either.
package struct JSONScanner: Sendable {
  /// The bytes that have been scanned.
  package private(set) var count = 0
  /// The ranges of the elements of the member's array; empty if the member is no array.
  package private(set) var elements: [Range<Int>] = []
  /// The range of the member's value if it is no array; nil before its end, and without it.
  package private(set) var value: Range<Int>?
  /// The text without the elements, up to the limit of the scanner.
  package private(set) var rest: [UInt8] = []
  /// Whether the rest is longer than the limit. Then it is incomplete.
  package private(set) var isRestTooLong = false

  private let name: [UInt8]
  private let restLimit: Int
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// Whether the next string of the object is the name of a member.
  private var expectsName = false
  /// The name that is being read, with its quotation marks; nil for none, and for one that is too long.
  private var nameText: [UInt8]?
  /// Whether the value that follows is the member's.
  private var isMember = false
  private var isInArray = false
  /// Where the value that is looked for began.
  private var start: Int?
  /// Whether it is neither a string nor an array nor an object.
  private var isScalar = false

  /// Makes a scanner for a member of the outermost object.
  /// - Parameter restLimit: the most bytes of ``rest``.
  package init(member name: String, restLimit: Int) {
    self.name = Array(name.utf8)
    self.restLimit = restLimit
  }

  package mutating func take(_ bytes: [UInt8]) {
    let text = bytes.span
    var index = 0
    while index < text.count {
      if isInString, !isEscaped, isInArray, start != nil {
        // Most bytes of an element are in its strings.
        let first = index
        while index < text.count, text[index] != JSONByte.quote, text[index] != JSONByte.backslash {
          index += 1
        }
        count += index - first
        guard index < text.count else { return }
      }
      take(text[index])
      count += 1
      index += 1
    }
  }

  private mutating func take(_ byte: UInt8) {
    if isInString { return takeInString(byte) }
    switch byte {
    case JSONByte.quote:
      beginValue(isScalar: false)
      nameText = depth == 1 && expectsName ? [] : nil
      isInString = true
      keep(byte)
      nameText?.append(byte)
    case JSONByte.openBrace, JSONByte.openBracket: open(byte)
    case JSONByte.closeBrace, JSONByte.closeBracket: close(byte)
    case JSONByte.comma, JSONByte.colon:
      endScalar()
      keep(byte)
      guard depth == 1 else { return }
      expectsName = byte == JSONByte.comma
      isMember = byte == JSONByte.colon && isName()
    default:
      if JSONByte.isSpace(byte) {
        endScalar()
        if isInArray, depth == 2 { return }
      } else {
        beginValue(isScalar: true)
      }
      keep(byte)
    }
  }

  private mutating func takeInString(_ byte: UInt8) {
    keep(byte)
    // Six bytes may stand for one.
    if let length = nameText?.count {
      if length < 6 * name.count + 2 { nameText?.append(byte) } else { nameText = nil }
    }
    if isEscaped {
      isEscaped = false
    } else if byte == JSONByte.backslash {
      isEscaped = true
    } else if byte == JSONByte.quote {
      isInString = false
      if depth == base { endValue(at: count + 1) }
    }
  }

  private mutating func open(_ byte: UInt8) {
    if isMember, depth == 1, byte == JSONByte.openBracket {
      isInArray = true
    } else {
      beginValue(isScalar: false)
    }
    keep(byte)
    depth += 1
    if depth == 1 { expectsName = byte == JSONByte.openBrace }
  }

  private mutating func close(_ byte: UInt8) {
    endScalar()
    // The bracket may also end the array, and then no value.
    let endsElement = depth > base
    if !isInArray || !endsElement || start == nil { keep(byte) }
    depth = max(0, depth - 1)
    if isInArray, depth < 2, !endsElement {
      isInArray = false
    } else if depth == base {
      endValue(at: count + 1)
    }
  }

  /// The depth at which the value that is looked for stands.
  private var base: Int { isInArray ? 2 : 1 }

  /// Whether the name that was read last is the member's.
  private func isName() -> Bool {
    guard let nameText, let text = try? ParsedJSON(nameText, limits: .small).root else {
      return false
    }
    return text.stringEquals(String(decoding: name, as: UTF8.self))
  }

  private mutating func beginValue(isScalar: Bool) {
    guard start == nil, depth == base, isInArray || isMember else { return }
    start = count
    self.isScalar = isScalar
    if isInArray { append(UInt8(ascii: "0")) }
  }

  private mutating func endScalar() {
    if isScalar, start != nil { endValue(at: count) }
  }

  private mutating func endValue(at end: Int) {
    guard let begun = start else { return }
    start = nil
    isScalar = false
    if isInArray { elements.append(begun..<end) } else { value = begun..<end }
  }

  /// Keeps a byte of the text, unless it is one of an element.
  private mutating func keep(_ byte: UInt8) {
    if isInArray, start != nil { return }
    append(byte)
  }

  private mutating func append(_ byte: UInt8) {
    guard rest.count < restLimit else {
      isRestTooLong = true
      return
    }
    rest.append(byte)
  }
}
