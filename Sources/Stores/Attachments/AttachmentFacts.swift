import Documents

/// What identifies the bytes of attachments in a store: their SHA-256. MD5 and SHA-1, by which clients name them, could be
/// the same for different bytes.
package struct AttachmentKey: ByteString {
  /// 64 lower-case hex digits.
  package let text: String

  init(stored text: String) { self.text = text }
}

/// What a store knows of bytes that attachments have.
package struct AttachmentFacts: Sendable, Equatable {
  package let key: AttachmentKey
  package let length: Int64
  package let md5: [UInt8]
  package let sha1: [UInt8]
  /// The name of its pieces.
  let pieces: String
  /// How many notes name it: ``AttachmentRecord`` of documents, and ``AttachmentNames`` of their revisions.
  package internal(set) var documents = 0

  /// Of how many a read looks up at once what is known of them.
  static let mostAtOnce = 500

  /// The digest as CouchDB writes it: `md5-` and the MD5 in Base64.
  package var digest: String { "md5-" + Base64.string(md5) }

  /// How many rows it takes.
  var pieceCount: Int {
    Int((length + Int64(AttachmentLimits.pieceBytes) - 1) / Int64(AttachmentLimits.pieceBytes))
  }
}

extension AttachmentFacts {
  /// The same bytes in another store, where no document names them yet.
  var forAnotherStore: AttachmentFacts {
    var facts = self
    facts.documents = 0
    return facts
  }

  /// Reads a note.
  /// - Throws: `integrity`.
  init(_ note: LocalDocument, of key: AttachmentKey) throws {
    guard let root = try? ParsedJSON(note.body, limits: .small).root,
      let length = root["length"]?.int, let documents = root["documents"]?.int,
      let md5 = root["md5"]?.string.flatMap({ Hex.bytes($0.utf8) }),
      let sha1 = root["sha1"]?.string.flatMap({ Hex.bytes($0.utf8) }),
      let pieces = root["pieces"]?.string
    else { throw ServiceError(.integrity, "What is known of an attachment can't be read") }
    self.init(
      key: key, length: Int64(length), md5: md5, sha1: sha1, pieces: pieces, documents: documents)
  }

  var note: LocalDocument {
    return LocalDocument(
      revision: 1,
      body: JSONWriter.object { writer in
        writer.member("length", Int(clamping: length))
        writer.member("md5", Hex.string(md5))
        writer.member("sha1", Hex.string(sha1))
        writer.member("pieces", pieces)
        writer.member("documents", documents)
      })
  }

  /// Lets the bytes be found by their SHA-1.
  var editOfSHA1: LocalEdit {
    LocalEdit(.attachment(sha1: sha1), LocalDocument(revision: 1, body: Array(key.text.utf8)))
  }
}
