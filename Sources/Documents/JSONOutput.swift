/// Writes values of a text again, without white space or in the canonical spelling.
struct JSONOutput {
  /// The text.
  let text: JSONText

  /// Whether members are sorted and strings escaped anew.
  let isCanonical: Bool

  /// Appends the value at a place. Recurses once for each level, of which the parser allows at most
  /// ``JSONParser/deepestNesting``.
  func append(_ place: JSONText.Place, to output: inout [UInt8]) {
    switch text.bytes[place.range.lowerBound] {
    case JSONByte.quote where isCanonical: appendString(place.range, to: &output)
    case JSONByte.openBracket where isCanonical || text.hasSpace:
      appendArray(place, to: &output)
    case JSONByte.openBrace where isCanonical || text.hasSpace:
      var members: [JSONMember.Place] = []
      for member in JSONMembers(of: JSONNode(text: text, place: place)) {
        members.append(member.place)
      }
      append(members: members, to: &output)
    default: appendBytes(place.range, to: &output)
    }
  }

  /// Appends an object of these members alone.
  func append(members: [JSONMember.Place], to output: inout [UInt8]) {
    let bytes = text.bytes
    let ordered = isCanonical ? JSONNameOrder(members, text: bytes.span).members : members
    output.append(JSONByte.openBrace)
    for (position, member) in ordered.enumerated() {
      if position != 0 { output.append(JSONByte.comma) }
      if isCanonical {
        appendString(member.name, to: &output)
      } else {
        appendBytes(member.name, to: &output)
      }
      output.append(JSONByte.colon)
      append(member.value, to: &output)
    }
    output.append(JSONByte.closeBrace)
  }

  private func appendArray(_ place: JSONText.Place, to output: inout [UInt8]) {
    output.append(JSONByte.openBracket)
    var isFirst = true
    for element in JSONElements(of: JSONNode(text: text, place: place)) {
      if !isFirst { output.append(JSONByte.comma) }
      isFirst = false
      append(element.place, to: &output)
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

  /// As memory: a slice is counted and walked.
  private func appendBytes(_ range: Range<Int>, to output: inout [UInt8]) {
    text.bytes.withUnsafeBufferPointer { bytes in
      output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
    }
  }
}
