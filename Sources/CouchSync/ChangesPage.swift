import Documents

/// Some rows of `_changes`, each one JSON object, and where to go on.
package struct ChangesPage: Sendable {
  /// Rows in the query's order.
  package let rows: [[UInt8]]
  /// The place after the last change that was looked at, which may be behind the last row's.
  package let last: SinceToken
  /// How many changes come after it at most; 0 only when there is none. Exact as far as the counts that
  /// stores keep tell: changes that a later change of the same document has replaced may count.
  package let pending: Int
  /// Whether nothing is left of what was asked for: the feed's end or the limit has been reached.
  package let isComplete: Bool
  /// Whether the answer starts over because the token was not of this store; see ``SinceToken``.
  package let isRewound: Bool
  /// The last change that belongs to the answer.
  let end: Int64

  /// What stands before the rows of a normal answer.
  package static let opening = Array(#"{"results":["#.utf8) + [0x0A]
  /// What stands between two rows of a normal answer.
  package static let separator = Array(",\n".utf8)

  /// What stands behind the rows of a normal answer, after its last page.
  package var closing: [UInt8] {
    var writer = JSONWriter(appendingTo: Array("\n],\n".utf8))
    appendMembers(to: &writer)
    return writer.bytes + Array("}\n".utf8)
  }

  /// The last line of a continuous feed that ends.
  package var lastLine: [UInt8] {
    var writer = JSONWriter(reserving: 96)
    writer.beginObject()
    appendMembers(to: &writer)
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  private func appendMembers(to writer: inout JSONWriter) {
    writer.member("last_seq", last.text)
    writer.member("pending", pending)
  }

  /// The whole answer where this page is all of it.
  package var answer: CouchAnswer {
    var bytes = Self.opening
    for (place, row) in rows.enumerated() {
      if place > 0 { bytes += Self.separator }
      bytes += row
    }
    return CouchAnswer(bytes + closing)
  }
}
