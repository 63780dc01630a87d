/// The tokens of a text in the order they stand, as words of 8 bytes.
///
/// A scalar or a member name takes one word, an array or an object two; the tokens of its content
/// follow, a member as its name and its value. From the low bits of the first word: the token (3
/// bits), whether a string has escapes (1), the byte offset of its start (28), and the byte offset
/// of its end, or for an array or object the index of the word after its content (32). The second
/// word holds the number of elements or members (32) and the byte offset of the end (32). So a text
/// of documents takes about two thirds of its bytes in tape, `[1,1,1]` four times as many, and empty
/// arrays in one another eight times: see ``mostBytes(for:)``.
struct JSONTape: Sendable {
  /// What a word describes.
  enum Token: UInt8 {
    case null, no, yes, number, string, array, object, unused
  }

  /// The words.
  private(set) var words: [UInt64] = []

  /// An empty tape for a text. Room for a long one is taken at once, as growing would take as much again.
  init(for text: Span<UInt8>) {
    let words =
      text.count > Self.longText
      ? Self.mostBytes(for: text) / Self.wordBytes : min(text.count / 12, 4096) + 4
    self.words.reserveCapacity(words)
  }

  /// Bytes of a text from which on it is a long one: 64 KiB.
  private static let longText = 64 << 10
  private static let wordBytes = MemoryLayout<UInt64>.size

  /// The most bytes that the tape of a text may take, by its punctuation, which strings may have as
  /// well: a word for the first value and one for each comma and colon, and three for each bracket, which
  /// opens two and may hold a value that no comma announces.
  static func mostBytes(for text: Span<UInt8>) -> Int {
    var (brackets, marks) = (0, 0)
    for place in text.indices {
      // `[` and `{` differ in one bit.
      brackets &+= text[place] | 0x20 == JSONByte.openBrace ? 1 : 0
      marks &+= text[place] == JSONByte.comma || text[place] == JSONByte.colon ? 1 : 0
    }
    return min(1 + marks + 3 * brackets, 3 * JSONLimits.standardValues) * wordBytes
  }

  /// The number of words.
  var count: Int { words.count }

  /// Appends a scalar or name that covers the bytes from `start` to before `end`.
  @inline(__always)
  mutating func append(_ token: Token, from start: Int, to end: Int, escaped: Bool = false) {
    words.append(Self.word(token, escaped, start, end))
  }

  /// Appends an array or object that starts at `start` and is still open; returns its index.
  mutating func open(_ token: Token, at start: Int) -> Int {
    let index = words.count
    words.append(Self.word(token, false, start, 0))
    words.append(0)
    return index
  }

  /// Closes the array or object at `index`, whose last byte is before `end`.
  mutating func close(_ index: Int, end: Int, count: Int) {
    words[index] |= UInt64(truncatingIfNeeded: words.count) << 32
    words[index + 1] = UInt64(truncatingIfNeeded: count) | UInt64(truncatingIfNeeded: end) << 32
  }

  /// The token at `index`.
  @inline(__always)
  func token(_ index: Int) -> Token {
    Token(rawValue: UInt8(truncatingIfNeeded: words[index] & 7)) ?? .unused
  }

  /// Whether the string at `index` has escapes.
  @inline(__always)
  func isEscaped(_ index: Int) -> Bool {
    words[index] & 8 != 0
  }

  /// The byte offset of the first byte of the token at `index`.
  @inline(__always)
  func start(_ index: Int) -> Int {
    Int(truncatingIfNeeded: (words[index] >> 4) & 0xFFF_FFFF)
  }

  /// The byte offset after the last byte of the token at `index`.
  @inline(__always)
  func end(_ index: Int) -> Int {
    Int(truncatingIfNeeded: words[isContainer(index) ? index + 1 : index] >> 32)
  }

  /// Whether the token at `index` is an array or an object.
  @inline(__always)
  func isContainer(_ index: Int) -> Bool {
    words[index] & 7 >= UInt64(Token.array.rawValue)
  }

  /// The index after the token at `index` and its content; 0 while the token is open.
  @inline(__always)
  func next(_ index: Int) -> Int {
    isContainer(index) ? Int(truncatingIfNeeded: words[index] >> 32) : index + 1
  }

  /// The number of elements or members of the token at `index`; 0 for a scalar.
  func items(_ index: Int) -> Int {
    isContainer(index) ? Int(truncatingIfNeeded: words[index + 1] & 0xFFFF_FFFF) : 0
  }

  private static func word(_ token: Token, _ escaped: Bool, _ start: Int, _ high: Int) -> UInt64 {
    UInt64(token.rawValue) | (escaped ? 8 : 0) | UInt64(truncatingIfNeeded: start) << 4
      | UInt64(truncatingIfNeeded: high) << 32
  }
}
