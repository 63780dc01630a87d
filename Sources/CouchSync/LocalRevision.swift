import Documents

/// A local document's revision, `0-N`: how often it was written.
///
/// Source: CouchDB, "Local (non-replicating) documents".
enum LocalRevision {
  /// What a deleted local document answers.
  static let removed = "0-0"

  /// The revision as clients see it.
  static func text(_ count: Int64) -> String { "0-\(count)" }

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
