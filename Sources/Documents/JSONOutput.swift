/// Writes values of a text again, without white space or in the canonical spelling.
struct JSONOutput {
  /// The text.
  let text: JSONText

  /// Whether members are sorted and strings escaped anew.
  let isCanonical: Bool

  /// Appends the value at `index`. Recurses once for each level, of which the parser allows at most
  /// ``JSONParser/deepestNesting``.
  func append(_ index: Int, to output: inout [UInt8]) {
    switch text.tape.token(index) {
    case .string where isCanonical && text.tape.isEscaped(index):
      appendResolved(index, to: &output)
    case .array where isCanonical || text.hasSpace:
      appendArray(index, to: &output)
    case .object where isCanonical:
      appendSortedObject(index, to: &output)
    case .object where text.hasSpace:
      appendObject(index, to: &output)
    default:
      // As memory: a slice is counted and walked.
      text.bytes.withUnsafeBufferPointer { bytes in
        let token = text.tape.start(index)..<text.tape.end(index)
        output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[token]))
      }
    }
  }

  /// Appends an object of those members alone whose names stand at these indices of the tape.
  func append(members names: [Int], to output: inout [UInt8]) {
    let bytes = text.bytes
    let ordered =
      isCanonical
      ? JSONNameOrder(names, tape: text.tape, text: bytes.span).names.map(\.index) : names
    output.append(JSONByte.openBrace)
    for (position, name) in ordered.enumerated() {
      if position != 0 { output.append(JSONByte.comma) }
      appendMember(name, to: &output)
    }
    output.append(JSONByte.closeBrace)
  }

  private func appendArray(_ index: Int, to output: inout [UInt8]) {
    output.append(JSONByte.openBracket)
    let end = text.tape.next(index)
    var element = index + 2
    while element < end {
      if element != index + 2 { output.append(JSONByte.comma) }
      append(element, to: &output)
      element = text.tape.next(element)
    }
    output.append(JSONByte.closeBracket)
  }

  private func appendObject(_ index: Int, to output: inout [UInt8]) {
    output.append(JSONByte.openBrace)
    let end = text.tape.next(index)
    var name = index + 2
    while name < end {
      if name != index + 2 { output.append(JSONByte.comma) }
      appendMember(name, to: &output)
      name = text.tape.next(name + 1)
    }
    output.append(JSONByte.closeBrace)
  }

  private func appendSortedObject(_ index: Int, to output: inout [UInt8]) {
    output.append(JSONByte.openBrace)
    let bytes = text.bytes
    let order = JSONNameOrder(namesOf: index, tape: text.tape, text: bytes.span)
    for (position, name) in order.names.enumerated() {
      if position != 0 { output.append(JSONByte.comma) }
      appendMember(name.index, to: &output)
    }
    output.append(JSONByte.closeBrace)
  }

  private func appendMember(_ name: Int, to output: inout [UInt8]) {
    append(name, to: &output)
    output.append(JSONByte.colon)
    append(name + 1, to: &output)
  }

  private func appendResolved(_ index: Int, to output: inout [UInt8]) {
    var resolved: [UInt8] = []
    let bytes = text.bytes
    JSONEscape.appendResolved(
      text.tape.start(index) + 1..<text.tape.end(index) - 1, of: bytes.span, to: &resolved)
    resolved.withUnsafeBufferPointer { JSONEscape.appendQuoted($0, to: &output) }
  }
}
