/// The member names of the objects that a parser has open, innermost object last.
struct JSONOpenNames {
  /// The most names that are compared each with each; more are sorted.
  private static let mostPairwise = 32

  /// A name's index on the tape in the low 32 bits, and above it a fingerprint of its bytes: equal
  /// names have equal fingerprints as long as neither has escapes.
  private var entries: [UInt64] = []

  /// Adds a name of the innermost object; `content` is the bytes between its quotation marks.
  @inline(__always)
  mutating func append(_ index: Int, content: Range<Int>, of text: Span<UInt8>) {
    var print = UInt64(truncatingIfNeeded: content.count & 0xFF)
    if !content.isEmpty {
      print |= UInt64(JSONByte.at(content.lowerBound, in: text)) << 8
      print |= UInt64(JSONByte.at(content.upperBound - 1, in: text)) << 16
      print |= UInt64(JSONByte.at(content.lowerBound + content.count / 2, in: text)) << 24
    }
    entries.append(UInt64(truncatingIfNeeded: index) | print << 32)
  }

  /// Takes the innermost object's names away and returns the first that repeats an earlier one, as
  /// its index on the tape.
  ///
  /// - Parameter escaped: Whether any of the names has escapes.
  mutating func removeLast(
    _ count: Int, escaped: Bool, tape: JSONTape, text: Span<UInt8>
  ) -> Int? {
    defer { entries.removeLast(min(count, entries.count)) }
    guard count > 1 else { return nil }
    if escaped || count > Self.mostPairwise {
      let indices = entries.suffix(count).map { Int($0 & 0xFFFF_FFFF) }
      return JSONNameOrder(indices, tape: tape, text: text).firstRepeated
    }
    return firstRepeatedPairwise(count, tape, text)
  }

  private func firstRepeatedPairwise(
    _ count: Int, _ tape: JSONTape, _ text: Span<UInt8>
  ) -> Int? {
    let base = entries.count - count
    for later in base + 1..<entries.count {
      let entry = entries[later]
      for earlier in base..<later where entries[earlier] >> 32 == entry >> 32 {
        let (one, other) = (Int(entries[earlier] & 0xFFFF_FFFF), Int(entry & 0xFFFF_FFFF))
        if JSONBytes.same(
          text, tape.start(one)..<tape.end(one), text, tape.start(other)..<tape.end(other))
        {
          return other
        }
      }
    }
    return nil
  }
}
