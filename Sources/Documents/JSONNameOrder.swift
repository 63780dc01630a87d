/// The member names of one object in the order of their UTF-8 bytes, escapes resolved.
struct JSONNameOrder {
  /// A name: its place on the tape, and where its characters are.
  struct Name {
    /// The index on the tape; the value is at the next index.
    let index: Int
    /// Whether `content` is a range of ``JSONNameOrder/resolved`` instead of the text.
    let isResolved: Bool
    /// The offsets of the characters.
    let content: Range<Int>
    /// The first eight bytes; see ``JSONBytes/prefix(_:_:)``.
    let prefix: UInt64
  }

  /// The names; equal ones stand together in the order of the text.
  private(set) var names: [Name] = []

  /// The characters of the names that have escapes.
  private(set) var resolved: [UInt8] = []

  /// The first name, in the order of the text, that repeats an earlier one, as its index on the
  /// tape.
  private(set) var firstRepeated: Int?

  /// Orders the names at these indices of the tape.
  init(_ indices: [Int], tape: JSONTape, text: Span<UInt8>) {
    names.reserveCapacity(indices.count)
    for index in indices {
      append(index, tape, text)
    }
    sort(text)
  }

  /// Orders the names of the object at an index of the tape.
  init(namesOf object: Int, tape: JSONTape, text: Span<UInt8>) {
    names.reserveCapacity(tape.items(object))
    let end = tape.next(object)
    var index = object + 2
    while index < end {
      append(index, tape, text)
      index = tape.next(index + 1)
    }
    sort(text)
  }

  private mutating func sort(_ text: Span<UInt8>) {
    let escaped = resolved
    let resolved = escaped.span
    var isSorted = true
    for index in names.indices.dropFirst() where isSorted {
      isSorted = Self.precedes(names[index - 1], names[index], text, resolved) == true
    }
    // Most writers keep their order, so that a document already stored is often sorted.
    if isSorted { return }
    names.sort { one, other in
      Self.precedes(one, other, text, resolved) ?? (one.index < other.index)
    }
    for index in names.indices.dropFirst()
    where Self.precedes(names[index - 1], names[index], text, resolved) == nil {
      firstRepeated = min(names[index].index, firstRepeated ?? .max)
    }
  }

  private mutating func append(_ index: Int, _ tape: JSONTape, _ text: Span<UInt8>) {
    var content = tape.start(index) + 1..<tape.end(index) - 1
    let isResolved = tape.isEscaped(index)
    let prefix: UInt64
    if isResolved {
      let start = resolved.count
      JSONEscape.appendResolved(content, of: text, to: &resolved)
      content = start..<resolved.count
      prefix = JSONBytes.prefix(resolved.span, content)
    } else {
      prefix = JSONBytes.prefix(text, content)
    }
    names.append(
      Name(index: index, isResolved: isResolved, content: content, prefix: prefix))
  }

  private static func precedes(
    _ one: Name, _ other: Name, _ text: Span<UInt8>, _ resolved: Span<UInt8>
  ) -> Bool? {
    if one.prefix != other.prefix { return one.prefix < other.prefix }
    return JSONBytes.precedes(
      one.isResolved ? resolved : text, one.content,
      other.isResolved ? resolved : text, other.content)
  }
}
