package import Documents

/// The format of an export: lines of JSON, each ended by a line break.
///
/// ```
/// {"export":"hotel-bookmarks","version":1,"made":"…","account":{"id":"…","kind":"user","username":"…"}}
/// {"section":"own","sequence":14}
/// {"id":"hotel_1","created":"…","updated":"…","history":["1-a","2-b",{"rev":"3-c","parent":1,"deleted":true}]}
/// {"rev":"3-c","body":{}}
/// {"rev":"2-b","body":{"name":"The Ritz"}}
/// {"note":"facts/hotel_1","revision":1,"body":{…}}
/// {"end":"own","sequence":14}
/// {"manifest":{"documents":0,"tombstones":1,"bodies":2,"notes":1,"lines":7,"bytes":532,"sha256":"…"}}
/// ```
/// A section is a store. In a `history`, a string is a revision whose parent is the revision before it in the
/// list; the first one has no parent. Every other revision is an object that names its parent. The stored
/// bodies follow their document, the winner's first. The bytes of attachments come before the first document that names
/// them, `{"attachment":"<SHA-256>","length":n}` and then `{"data":"<Base64>"}` for each part; a body's line then has
/// `"attachments":{"<name>":"<SHA-256>"}`. The manifest has the number of all lines and bytes
/// before it, and their SHA-256.
package enum ExportFormat {
  /// The name of the format in the first line.
  static let name = "hotel-bookmarks"
  /// The version of the layout.
  static let version = 1
  /// The name of the section of the account's own store.
  package static let own = "own"
  private static let listPrefix = "list/"

  /// The name of the section of a shared list that the account owns.
  package static func list(_ id: AccountID) -> String { listPrefix + id.text }

  /// The list's id from a section's name; nil for any other section.
  static func list(named name: String) -> AccountID? {
    guard name.utf8.starts(with: listPrefix.utf8) else { return nil }
    return AccountID(String(Substring(name.utf8.dropFirst(listPrefix.utf8.count))))
  }
  /// The longest line that is read, in bytes. A document's complete history fits into it.
  package static let lineBytes = JSONLimits.request.maximumBytes
  /// How many lines are read at most.
  package static let lines = 5_000_000
  /// The size of a piece of an export in bytes: 64 KiB. A longer line makes a longer piece.
  package static let pieceBytes = 64 << 10
  /// The limits for parsing a line. In a line a document's body is nested one level deeper than alone.
  static let limits = JSONLimits(
    maximumBytes: lineBytes, maximumDepth: JSONLimits.stored.maximumDepth)
}

extension JSONWriter {
  /// The text of one object on a line of its own, with its line break.
  package static func line(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    JSONWriter.object(write) + [UInt8(ascii: "\n")]
  }
}

/// Counts of what an export contains, or what an import has read.
package struct ExportCounts: Sendable, Equatable {
  /// Documents whose winner is live.
  package var documents = 0
  /// Documents whose winner is a tombstone.
  package var tombstones = 0
  package var bodies = 0
  /// The service's own notes that are exported with documents.
  package var notes = 0

  package init() {}

  /// Writes the counts as members of an open object.
  package func write(to writer: inout JSONWriter) {
    writer.member("documents", documents)
    writer.member("tombstones", tombstones)
    writer.member("bodies", bodies)
    writer.member("notes", notes)
  }

  package static func += (sum: inout ExportCounts, other: ExportCounts) {
    sum.documents += other.documents
    sum.tombstones += other.tombstones
    sum.bodies += other.bodies
    sum.notes += other.notes
  }
}
