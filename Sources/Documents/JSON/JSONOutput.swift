/// Writes values of a text again, without white space or in canonical form.
struct JSONOutput {
  let text: JSONText

  /// Whether the form is canonical: members sorted, strings with the fewest escapes.
  let isCanonical: Bool

  /// Appends the value in a range. Recurses once for each level; the parser allows at most
  /// ``JSONParser/deepestNesting`` levels.
  func append(_ range: JSONText.TextRange, to output: inout [UInt8]) {
    switch text.bytes[range.offsets.lowerBound] {
    case JSONByte.quote where isCanonical: appendString(range.offsets, to: &output)
    case JSONByte.openBracket where isCanonical || text.hasSpace: appendArray(range, to: &output)
    case JSONByte.openBrace where isCanonical || text.hasSpace:
      let members = JSONMembers(of: JSONNode(text: text, range: range))
      append(members: members.map(\.ranges), to: &output)
    default: appendBytes(range.offsets, to: &output)
    }
  }

  func append(members: [JSONMember.TextRanges], to output: inout [UInt8]) {
    output.append(JSONByte.openBrace)
    for (position, member) in ordered(members).enumerated() {
      if position != 0 { output.append(JSONByte.comma) }
      append(nameOf: member, to: &output)
      append(member.value, to: &output)
    }
    output.append(JSONByte.closeBrace)
  }

  /// Members in the order in which they are written.
  func ordered(_ members: [JSONMember.TextRanges]) -> [JSONMember.TextRanges] {
    let bytes = text.bytes
    return isCanonical ? JSONNameOrder(members, text: bytes.span).members : members
  }

  /// Appends a member's name and the colon.
  func append(nameOf member: JSONMember.TextRanges, to output: inout [UInt8]) {
    if isCanonical {
      appendString(member.name, to: &output)
    } else {
      appendBytes(member.name, to: &output)
    }
    output.append(JSONByte.colon)
  }

  private func appendArray(_ range: JSONText.TextRange, to output: inout [UInt8]) {
    output.append(JSONByte.openBracket)
    var isFirst = true
    for element in JSONElements(of: JSONNode(text: text, range: range)) {
      if !isFirst { output.append(JSONByte.comma) }
      isFirst = false
      append(element.range, to: &output)
    }
    output.append(JSONByte.closeBracket)
  }

  /// Appends a string with the fewest escapes.
  private func appendString(_ range: Range<Int>, to output: inout [UInt8]) {
    let content = range.lowerBound + 1..<range.upperBound - 1
    let bytes = text.bytes
    guard JSONScan.isEscaped(content, in: bytes.span) else {
      return appendBytes(range, to: &output)
    }
    var resolved: [UInt8] = []
    JSONEscape.appendResolved(content, of: bytes.span, to: &resolved)
    resolved.withUnsafeBufferPointer { JSONEscape.appendQuoted($0, to: &output) }
  }

  /// Copies through a buffer pointer, because appending an array slice is slow.
  private func appendBytes(_ range: Range<Int>, to output: inout [UInt8]) {
    text.bytes.withUnsafeBufferPointer { bytes in
      output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
    }
  }
}
