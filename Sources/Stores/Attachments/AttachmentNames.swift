import Crypto
import Documents

/// The names of the attachments of a revision, and the key of each. As a note of its own it is named by what it says and by
/// its document, so that all revisions of a document with the same names have the same note.
struct AttachmentNames: Equatable {
  /// The bytes of a name's key, with its quotation marks.
  static let keyBytes = 70

  var keys: [AttachmentName: AttachmentKey]

  init(_ keys: [AttachmentName: AttachmentKey]) { self.keys = keys }

  /// Reads an object `{"<name>":"<key>"}`.
  init(_ object: JSONNode) {
    keys = object.members.reduce(into: [:]) { keys, member in
      keys[AttachmentName(stored: member.name)] = AttachmentKey(stored: member.value.string ?? "")
    }
  }

  /// Reads a note.
  /// - Throws: `integrity`.
  init(_ note: LocalDocument) throws {
    guard let root = try? ParsedJSON(note.body, limits: .stored).root else {
      throw ServiceError(.integrity, "The names of a revision's attachments can't be read")
    }
    self.init(root)
  }

  var json: [UInt8] {
    return JSONWriter.object(reserving: keys.count * (Self.keyBytes + 16) + 2) { writer in
      for (name, key) in keys.sorted(by: { $0.key < $1.key }) { writer.member(name.text, key.text) }
    }
  }

  /// The name of the note of a document's revisions that says this.
  static func id(of json: [UInt8], of document: DocumentID) -> String {
    var hash = SHA256()
    hash.update(data: Array(document.text.utf8) + [0])
    hash.update(data: json)
    return String(Hex.string(Array(hash.finalize())).prefix(32))
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
  static func attached(_ id: DocumentID) -> LocalID { LocalID(stored: attachedPrefix + id.text) }
  /// The prefix of the names of revisions that have many.
  package static let attachmentNamesPrefix = receiptPrefix + "attached-names/"
  static func attachmentNames(_ id: String) -> LocalID {
    LocalID(stored: attachmentNamesPrefix + id)
  }
  /// The prefix of the marks of such notes that no revision has any more.
  static let forgottenNamesPrefix = receiptPrefix + "attached-forgotten/"
  /// The mark of such a note.
  var forgottenNames: LocalID {
    LocalID(stored: Self.forgottenNamesPrefix + AnswerKeys.last(of: self))
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
