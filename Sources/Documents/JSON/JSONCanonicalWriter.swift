/// Writes an object in its canonical form in parts, so that other tasks can run between them.
///
/// Arrays and objects of 64 KiB or more are written element by element, everything shorter at once.
package struct JSONCanonicalWriter: Sendable {
  /// How many bytes of output a part has, at least: 64 KiB.
  package static let partBytes = 64 << 10

  /// What is left of a long array or object.
  private enum Rest: Sendable {
    case elements(JSONElements)
    case members(ArraySlice<JSONMember.TextRanges>)
  }

  private let output: JSONOutput
  /// The long arrays and objects that are open, innermost last.
  private var open: [Rest] = []
  /// Whether the innermost has begun.
  private var needsComma = false
  private var part: [UInt8] = []

  /// Makes a writer of an object of some members of another one.
  package init(_ node: JSONNode, of members: [JSONMember.TextRanges]) {
    output = JSONOutput(text: node.text, isCanonical: true)
    begin(members)
  }

  /// Writes the next part.
  /// - Returns: its bytes; nil behind the end.
  package mutating func next() -> [UInt8]? {
    guard !open.isEmpty else { return nil }
    defer { part.removeAll(keepingCapacity: true) }
    while part.count < Self.partBytes, let rest = open.popLast() {
      switch rest {
      case .elements(let elements): write(elements)
      case .members(let members): write(members)
      }
    }
    return part
  }

  private mutating func write(_ elements: JSONElements) {
    var rest = elements
    while part.count < Self.partBytes {
      guard let element = rest.next() else { return end(JSONByte.closeBracket) }
      separate()
      if element.range.isLong {
        open.append(.elements(rest))
        return begin(element.range)
      }
      output.append(element.range, to: &part)
    }
    open.append(.elements(rest))
  }

  private mutating func write(_ members: ArraySlice<JSONMember.TextRanges>) {
    var rest = members
    while part.count < Self.partBytes {
      guard let member = rest.popFirst() else { return end(JSONByte.closeBrace) }
      separate()
      output.append(nameOf: member, to: &part)
      if member.value.isLong {
        open.append(.members(rest))
        return begin(member.value)
      }
      output.append(member.value, to: &part)
    }
    open.append(.members(rest))
  }

  private mutating func separate() {
    if needsComma { part.append(JSONByte.comma) }
    needsComma = true
  }

  private mutating func begin(_ range: JSONText.TextRange) {
    let node = JSONNode(text: output.text, range: range)
    switch node.kind {
    case .array:
      part.append(JSONByte.openBracket)
      open.append(.elements(node.elements))
      needsComma = false
    case .object: begin(node.members.map(\.ranges))
    default: output.append(range, to: &part)
    }
  }

  private mutating func begin(_ members: [JSONMember.TextRanges]) {
    part.append(JSONByte.openBrace)
    open.append(.members(output.ordered(members)[...]))
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    part.append(bracket)
    needsComma = true
  }
}

extension JSONText.TextRange {
  /// Whether the value is written in parts.
  fileprivate var isLong: Bool { offsets.count >= JSONCanonicalWriter.partBytes }
}
