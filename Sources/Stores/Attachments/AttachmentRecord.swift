import Documents
import JSON

/// Which bytes the attachments of one document have: for each revision whose body names attachments and is kept, the key
/// of each attachment. A note, `{"<revision>":{"<name>":"<key>"}}`.
struct AttachmentRecord: Equatable {
  typealias Names = [AttachmentName: AttachmentKey]

  static let isFull = DocumentError(
    .tooManyLeaves, "The document's revisions name too many attachments; resolve conflicts first")
  /// The bytes of a name's key, with its quotation marks.
  static let keyBytes = 70

  private(set) var revisions: [RevisionID: Names] = [:]

  init() {}

  /// Reads a note.
  /// - Throws: `integrity`.
  init(_ note: LocalDocument) throws {
    guard let root = try? ParsedJSON(note.body, limits: .stored).root else {
      throw ServiceError(.integrity, "The names of a document's attachments can't be read")
    }
    for member in root.members {
      guard let revision = try? RevisionID(member.name) else {
        throw ServiceError(.integrity, "The names of a document's attachments have no revision")
      }
      for name in member.value.members {
        revisions[revision, default: [:]][AttachmentName(stored: name.name)] = AttachmentKey(
          stored: name.value.string ?? "")
      }
    }
  }

  /// The note; nil for a document without attachments.
  func note(after former: LocalDocument?) -> LocalDocument? {
    guard !revisions.isEmpty else { return nil }
    return LocalDocument(
      revision: (former?.revision ?? 0) &+ 1,
      body: JSONWriter.object { writer in
        for revision in revisions.keys.sorted() {
          writer.object(revision.description) { writer in
            for (name, key) in (revisions[revision] ?? [:]).sorted(by: { $0.key < $1.key }) {
              writer.member(name.text, key.text)
            }
          }
        }
      })
  }

  /// All keys.
  var keys: Set<AttachmentKey> { Set(revisions.values.flatMap(\.values)) }

  mutating func set(_ names: Names, of revision: RevisionID) {
    if names.isEmpty { revisions[revision] = nil } else { revisions[revision] = names }
  }

  mutating func remove(where isGone: (RevisionID) -> Bool) {
    for revision in revisions.keys where isGone(revision) { revisions[revision] = nil }
  }

  /// Removes the names of some bytes from all revisions.
  mutating func remove(_ keys: Set<AttachmentKey>) {
    for (revision, names) in revisions {
      set(names.filter { !keys.contains($0.value) }, of: revision)
    }
  }
}

/// The notes about attachments. Engines keep them as any local document: with a checksum, in backups, in copies, and erased
/// with the store.
extension LocalID {
  /// How many bytes the attachments of the store have.
  static let attachmentTotal = LocalID(receipt: "attachments")
  /// The prefix of the pieces of attachments.
  package static let piecePrefix = receiptPrefix + "piece/"
  /// The prefix of the marks of attachments whose document has not come yet.
  static let uploadPrefix = receiptPrefix + "upload/"

  /// The prefix of the records of documents.
  static let attachedPrefix = receiptPrefix + "attached/"
  static func attached(_ id: DocumentID) -> LocalID {
    LocalID(stored: attachedPrefix + id.text)
  }
  /// The prefix of what is known of bytes.
  static let attachmentPrefix = receiptPrefix + "attachment/"
  static func attachment(_ key: AttachmentKey) -> LocalID {
    LocalID(stored: attachmentPrefix + key.text)
  }
  /// Which attachment has a SHA-1.
  static func attachment(sha1: [UInt8]) -> LocalID {
    LocalID(receipt: "attachment-sha1/" + Hex.string(sha1))
  }
  static func upload(_ name: String) -> LocalID { LocalID(stored: uploadPrefix + name) }
  static func piece(_ index: Int, of name: String) -> LocalID {
    LocalID(stored: pieces(of: name) + Hex.string(0, UInt64(index)).suffix(8))
  }
  static func pieces(of name: String) -> String { piecePrefix + name + "/" }
}
