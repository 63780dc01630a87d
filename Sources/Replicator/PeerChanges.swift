import Documents
import Scheduling

/// Some changes of a source, in the order of their sequences.
struct PeerChanges: Sendable {
  /// A changed document with its leaves.
  struct Row: Sendable {
    let id: String
    let revisions: [String]
  }

  /// The longest sequence, in bytes: 4 KiB. CouchDB's have about a hundred bytes for each shard.
  static let maximumSequenceBytes = 4 << 10
  /// The longest id, in bytes: 8 KiB, because it is in the target of a request. Each question repeats it.
  static let maximumIDBytes = 8 << 10
  /// The most revisions of one answer.
  static let maximumRevisions = 50_000

  let rows: [Row]
  /// The sequence of the last one.
  let last: JSONValue
  /// How many follow; nil if the source does not say.
  let pending: Int?

  /// Reads an answer in slices.
  /// - Parameter limit: how many rows were asked for.
  /// - Returns: nil for an answer of another form, of more rows, or with too long an id or sequence.
  /// - Throws: ``TooLongAnswer`` for too many revisions; ``WorkEnded``.
  static func read(_ node: JSONNode, atMost limit: Int) async throws -> PeerChanges? {
    guard let results = node["results"], results.kind == .array, results.count <= limit,
      let last = node["last_seq"]?.sequence
    else { return nil }
    var (rows, count): ([Row], Int) = ([], 0)
    rows.reserveCapacity(results.count)
    for result in results.elements {
      guard let id = result["id"]?.string, id.utf8.count <= maximumIDBytes,
        let changes = result["changes"],
        changes.kind == .array
      else { return nil }
      count += changes.count
      guard count <= maximumRevisions else { throw TooLongAnswer() }
      var revisions: [String] = []
      for change in changes.elements {
        guard let revision = change["rev"]?.string else { return nil }
        revisions.append(revision)
        try await Slice.giveWay()
      }
      rows.append(Row(id: id, revisions: revisions))
      try await Slice.giveWay()
    }
    return PeerChanges(rows: rows, last: last, pending: node["pending"]?.int?.boundedCount)
  }
}

extension JSONValue {
  /// A sequence as text: a string as it is, as CouchDB shows it, and anything else as JSON.
  var sequenceText: String { string ?? String(decoding: bytes, as: UTF8.self) }
}

extension JSONNode {
  /// The value, if it is no longer than a sequence may be.
  var short: JSONNode? { offsets.count <= PeerChanges.maximumSequenceBytes ? self : nil }

  /// A sequence, or another string or number, of a peer; nil for a value of another kind, and for one that is too long.
  var sequence: JSONValue? {
    guard let short, kind == .string || kind == .number else { return nil }
    return short.value
  }
}
