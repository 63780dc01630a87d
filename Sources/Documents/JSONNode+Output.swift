extension JSONNode {
  /// The value without white space between tokens; see ``appendMinified(to:)``.
  package var minified: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(text.tape.end(index) - text.tape.start(index))
    appendMinified(to: &output)
    return output
  }

  /// The value in its one canonical spelling; see ``appendCanonical(to:)``.
  package var canonical: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(text.tape.end(index) - text.tape.start(index))
    appendCanonical(to: &output)
    return output
  }

  /// An object of some of this one's members: those whose names stand at these indices of the tape.
  /// - Parameter isCanonical: whether as ``appendCanonical(to:)`` writes it, or as ``appendMinified(to:)``.
  func object(of names: [Int], isCanonical: Bool) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(text.tape.end(index) - text.tape.start(index))
    JSONOutput(text: text, isCanonical: isCanonical).append(members: names, to: &output)
    return output
  }

  /// Appends the value without white space between tokens. Strings and numbers are exactly as
  /// written, escapes included, and the order is kept.
  package func appendMinified(to output: inout [UInt8]) {
    JSONOutput(text: text, isCanonical: false).append(index, to: &output)
  }

  /// Appends the value so that texts that differ only in white space, in the order of members or in
  /// the escapes of strings give the same bytes: no white space, members in the order of the UTF-8
  /// bytes of their names, and strings with the fewest escapes (RFC 8785 section 3.2.2.2). Numbers
  /// are as written, unlike RFC 8785, so `1` and `1.0` stay different.
  package func appendCanonical(to output: inout [UInt8]) {
    JSONOutput(text: text, isCanonical: true).append(index, to: &output)
  }
}
