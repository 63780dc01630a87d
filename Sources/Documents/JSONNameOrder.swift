/// Members of one object in the order of the UTF-8 bytes of their names, escapes resolved.
struct JSONNameOrder {
  /// A member, and where the characters of its name are.
  private struct Name {
    let member: JSONMember.Place
    /// Whether `content` is a range of the resolved characters instead of the text.
    let isResolved: Bool
    /// The offsets of the characters.
    let content: Range<Int>
    /// The first eight bytes; see ``JSONBytes/prefix(_:_:)``.
    let prefix: UInt64
  }

  /// The members; those of equal names stand together in the order of the text.
  let members: [JSONMember.Place]

  /// The first name, in the order of the text, that repeats an earlier one: its bytes, with the quotation marks.
  private(set) var firstRepeated: Range<Int>?

  /// Orders members.
  init(_ members: [JSONMember.Place], text: Span<UInt8>) {
    var names: [Name] = []
    names.reserveCapacity(members.count)
    // The characters of the names that have escapes.
    var escaped: [UInt8] = []
    for member in members { names.append(Self.name(member, &escaped, text)) }
    let characters = escaped
    let resolved = characters.span
    var isSorted = true
    for index in names.indices.dropFirst() where isSorted {
      isSorted = Self.precedes(names[index - 1], names[index], text, resolved) == true
    }
    // Most writers keep their order, so that a document already stored is often sorted.
    guard !isSorted else {
      self.members = members
      return
    }
    names.sort { one, other in
      Self.precedes(one, other, text, resolved)
        ?? (one.member.name.lowerBound < other.member.name.lowerBound)
    }
    self.members = names.map(\.member)
    for index in names.indices.dropFirst()
    where Self.precedes(names[index - 1], names[index], text, resolved) == nil {
      let name = names[index].member.name
      if name.lowerBound < firstRepeated?.lowerBound ?? .max { firstRepeated = name }
    }
  }

  private static func name(
    _ member: JSONMember.Place, _ resolved: inout [UInt8], _ text: Span<UInt8>
  ) -> Name {
    let content = member.name.lowerBound + 1..<member.name.upperBound - 1
    guard JSONScan.isEscaped(content, in: text) else {
      return Name(
        member: member, isResolved: false, content: content,
        prefix: JSONBytes.prefix(text, content))
    }
    let start = resolved.count
    JSONEscape.appendResolved(content, of: text, to: &resolved)
    let characters = start..<resolved.count
    return Name(
      member: member, isResolved: true, content: characters,
      prefix: JSONBytes.prefix(resolved.span, characters))
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
