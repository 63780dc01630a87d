/// The tokens of a text in the order they stand, as words of 8 bytes.
///
/// A scalar or a member name takes one word, an array or an object two; the tokens of its content
/// follow, a member as its name and its value. From the low bits of the first word: the token (3
/// bits), whether a string has escapes (1), the byte offset of its start (28), and the byte offset
/// of its end, or for an array or object the index of the word after its content (32). The second
/// word holds the number of elements or members (32) and the byte offset of the end (32). So a text
/// of n bytes needs at most 5.4 n bytes of tape.
struct JSONTape: Sendable {
  /// What a word describes.
  enum Token: UInt8 {
    case null, no, yes, number, string, array, object, unused
  }

  /// The words.
  private(set) var words: [UInt64] = []

  /// An empty tape for a text of so many bytes.
  init(forTextOf bytes: Int) {
    words.reserveCapacity(min(bytes / 12, 4096) + 4)
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
