import Documents

/// A local document's revision, `0-N`: how often it was written; `0-0` of one that was removed.
///
/// Source: CouchDB, "Local (non-replicating) documents".
enum LocalRevision {
  /// The revision as clients see it.
  static func text(_ count: Int64) -> String { "0-\(count)" }

  /// The revision as an entity tag.
  static func tag(_ count: Int64) -> RevisionID {
    RevisionID(generation: 0, digest: String(count))
  }

  /// Reads `0-N`.
  /// - Throws: 400 `bad_request`.
  static func read(_ text: String) throws(CouchError) -> Int64 {
    let bytes = text.utf8
    let digits = bytes.dropFirst(2)
    guard bytes.starts(with: "0-".utf8), (1...18).contains(digits.count),
      digits.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(Substring(digits))
    else { throw .badRequest("Invalid rev format") }
    return count
  }
}
