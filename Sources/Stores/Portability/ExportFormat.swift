package import JSON

/// What is in an export: lines of JSON, each ended by a line break.
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
/// A section is a store. In a `history` a text is a revision below the one before it in the list, the first one without a
/// parent; every other revision says what it is. The bodies that are kept follow their document, the winner's first. The
/// manifest counts all lines and bytes before it and has their SHA-256.
package enum ExportFormat {
  /// What the first line says of the format.
  static let name = "hotel-bookmarks"
  /// The version of the layout.
  static let version = 1
  /// The section of the account's own store.
  package static let own = "own"
  private static let listPrefix = "list/"

  /// The section of a shared list that the account owns.
  package static func list(_ id: AccountID) -> String { listPrefix + id.text }

  /// The list whose section has a name; nil for any other section.
  static func list(named name: String) -> AccountID? {
    guard name.utf8.starts(with: listPrefix.utf8) else { return nil }
    return AccountID(String(Substring(name.utf8.dropFirst(listPrefix.utf8.count))))
  }
  /// The longest line that is read, in bytes: what a document's whole history takes at most.
  package static let lineBytes = JSONLimits.request.maximumBytes
  /// Lines that are read at most.
  package static let lines = 5_000_000
  /// Bytes of a piece of an export, but for a line that is longer: 64 KiB.
  package static let pieceBytes = 64 << 10
  /// How a line is parsed: a document's body stands one level deeper than by itself.
  static let limits = JSONLimits(
    maximumBytes: lineBytes, maximumDepth: JSONLimits.stored.maximumDepth)
}

/// Whose an export is. Of the account it says no secret.
package struct ExportedAccount: Sendable {
  /// The account's id.
  package let id: AccountID
  /// `guest` or `user`.
  package let kind: String
  /// The name as signed up; nil for a guest.
  package let username: String?
  /// When the account was made, RFC 3339; nil where that is not known.
  package let created: String?

  /// Somebody, by their facts.
  package init(id: AccountID, kind: String, username: String?, created: String?) {
    self.id = id
    self.kind = kind
    self.username = username
    self.created = created
  }
}

/// What an export holds, or an import has read.
package struct ExportCounts: Sendable, Equatable {
  /// Documents whose winner is live.
  package var documents = 0
  /// Documents whose winner is a tombstone.
  package var tombstones = 0
  /// Bodies of revisions.
  package var bodies = 0
  /// Notes of the service's own that go with documents.
  package var notes = 0

  /// Nothing.
  package init() {}

  /// Writes them as members of an open object.
  package func write(to writer: inout JSONWriter) {
    writer.member("documents", documents)
    writer.member("tombstones", tombstones)
    writer.member("bodies", bodies)
    writer.member("notes", notes)
  }

  /// Adds what another one counts.
  package static func += (sum: inout ExportCounts, other: ExportCounts) {
    sum.documents += other.documents
    sum.tombstones += other.tombstones
    sum.bodies += other.bodies
    sum.notes += other.notes
  }
}

/// Which of the service's own notes in a store go with its documents.
package struct PortableNotes: Sendable {
  /// What the ids of notes start with that are exported and stored again, without ``LocalID/receiptPrefix``: `facts/`.
  package let kept: [String]
  /// The same of notes that are exported as facts about the account, and read over by an import: what the service does
  /// for an account by its own notes must not follow from a file.
  package let told: [String]

  /// Notes by their prefixes, which end with a slash.
  package init(kept: [String], told: [String]) {
    self.kept = kept
    self.told = told
  }
}

extension JSONWriter {
  /// Writes one object as a line.
  static func line(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
