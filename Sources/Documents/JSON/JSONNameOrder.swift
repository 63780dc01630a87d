/// Sorts the members of one object by the UTF-8 bytes of their names, escapes resolved.
struct JSONNameOrder {
  /// A member and the characters of its name.
  private struct Name {
    let member: JSONMember.TextRanges
    /// Whether `content` is a range of the resolved characters, not of the text.
    let isResolved: Bool
    /// The offsets of the characters of the name.
    let content: Range<Int>
  }

  /// The sorted members; those with equal names are in the order of the text.
  let members: [JSONMember.TextRanges]

  /// The bytes of the first name, in the order of the text, that repeats an earlier one, with the quotation marks.
  private(set) var firstRepeated: Range<Int>?

  init(_ members: [JSONMember.TextRanges], text: Span<UInt8>) {
    var names: [Name] = []
    names.reserveCapacity(members.count)
    // The resolved characters of the names that have escapes.
    var escaped: [UInt8] = []
    for member in members { names.append(Self.name(member, &escaped, text)) }
    let characters = escaped
    let resolved = characters.span
    var isSorted = true
    for index in names.indices.dropFirst() where isSorted {
      isSorted = Self.precedes(names[index - 1], names[index], text, resolved) == true
    }
    // Most writers keep the order of members, so a document that was stored before is often sorted.
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
    _ member: JSONMember.TextRanges, _ resolved: inout [UInt8], _ text: Span<UInt8>
  ) -> Name {
    let content = member.name.lowerBound + 1..<member.name.upperBound - 1
    guard JSONScan.isEscaped(content, in: text) else {
      return Name(member: member, isResolved: false, content: content)
    }
    let start = resolved.count
    JSONEscape.appendResolved(content, of: text, to: &resolved)
    return Name(member: member, isResolved: true, content: start..<resolved.count)
  }

  private static func precedes(
    _ one: Name, _ other: Name, _ text: Span<UInt8>, _ resolved: Span<UInt8>
  ) -> Bool? {
    JSONBytes.precedes(
      one.isResolved ? resolved : text, one.content,
      other.isResolved ? resolved : text, other.content)
  }
}

/// The member names of the objects that a parser has open, innermost object last, to find repeated names.
struct JSONOpenNames: Sendable {
  /// Up to this many names are compared pairwise; the hashes of more names are sorted.
  private static let mostPairwise = 32

  /// Random input of every hash, so that a client can't choose names with equal hashes.
  private static let seed = UInt64.random(in: .min ... .max)

  /// The offset of a name's first byte in the low 32 bits, and a hash of its characters in the high 32 bits: equal
  /// names have equal hashes.
  private var entries: [UInt64] = []

  /// Adds a name of the innermost object.
  /// - Parameter name: its bytes, with the quotation marks.
  @inline(__always)
  mutating func append(_ name: Range<Int>, isEscaped: Bool, of text: Span<UInt8>) {
    let content = name.lowerBound + 1..<name.upperBound - 1
    let print = isEscaped ? Self.resolvedPrint(content, of: text) : Self.print(content, of: text)
    entries.append(UInt64(truncatingIfNeeded: name.lowerBound) | print << 32)
  }

  /// Removes the innermost object's names and returns the first name that repeats an earlier one.
  mutating func removeLast(_ count: Int, text: Span<UInt8>) -> Range<Int>? {
    defer { entries.removeLast(min(count, entries.count)) }
    guard count > 1 else { return nil }
    if count <= Self.mostPairwise { return firstRepeatedPairwise(count, text) }
    // Sorted by hash, and those with equal hashes by their offset.
    let sorted = entries.suffix(count).sorted()
    var first: Range<Int>?
    var start = 0
    for end in 1...count where end == count || sorted[end] >> 32 != sorted[start] >> 32 {
      if end - start > 1 {
        let names = sorted[start..<end].map { Self.name(at: $0, of: text) }
        if let repeated = JSONNameOrder(names, text: text).firstRepeated,
          repeated.lowerBound < first?.lowerBound ?? .max
        {
          first = repeated
        }
      }
      start = end
    }
    return first
  }

  private func firstRepeatedPairwise(_ count: Int, _ text: Span<UInt8>) -> Range<Int>? {
    let base = entries.count - count
    for later in base + 1..<entries.count {
      for earlier in base..<later where entries[earlier] >> 32 == entries[later] >> 32 {
        let names = [entries[earlier], entries[later]].map { Self.name(at: $0, of: text) }
        if let repeated = JSONNameOrder(names, text: text).firstRepeated { return repeated }
      }
    }
    return nil
  }

  /// The member whose name an entry describes; only its name is known.
  private static func name(at entry: UInt64, of text: Span<UInt8>) -> JSONMember.TextRanges {
    let start = Int(entry & 0xFFFF_FFFF)
    return JSONMember.TextRanges(nameAt: start, of: text)
  }

  private static func resolvedPrint(_ content: Range<Int>, of text: Span<UInt8>) -> UInt64 {
    var resolved: [UInt8] = []
    JSONEscape.appendResolved(content, of: text, to: &resolved)
    return print(resolved.indices, of: resolved.span)
  }

  @inline(__always)
  private static func print(_ content: Range<Int>, of text: Span<UInt8>) -> UInt64 {
    var hash = seed ^ UInt64(truncatingIfNeeded: content.count)
    var offset = content.lowerBound
    while offset < content.upperBound {
      let end = min(offset + 8, content.upperBound)
      hash = (hash ^ JSONBytes.prefix(text, offset..<end)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
      offset = end
    }
    return hash & 0xFFFF_FFFF
  }
}
