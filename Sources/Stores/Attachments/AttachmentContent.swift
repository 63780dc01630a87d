import Crypto
import Documents
import JSON

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
  /// How many documents name it.
  package internal(set) var documents = 0

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
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("length", Int(clamping: length))
    writer.member("md5", Hex.string(md5))
    writer.member("sha1", Hex.string(sha1))
    writer.member("pieces", pieces)
    writer.member("documents", documents)
    writer.endObject()
    return LocalDocument(revision: 1, body: writer.bytes)
  }
}

/// The bytes of an attachment that a document names: new ones, or some that the store has.
package enum AttachmentContent: Sendable {
  case new(NewAttachment)
  case stored(AttachmentKey)
}

/// The bytes of an attachment that have arrived completely.
package struct NewAttachment: Sendable {
  package let facts: AttachmentFacts
  /// The pieces; nil if they were written to the store.
  let held: [[UInt8]]?

  /// The bytes of the pieces in memory.
  package var heldBytes: Int { held?.reduce(0) { $0 + $1.count } ?? 0 }
}

/// An attachment while its bytes arrive.
///
/// ```swift
/// var upload = AttachmentUpload(limit: limit)
/// for try await bytes in body {
///   try upload.append(bytes)
///   if upload.isFull { try await store.write(&upload, as: context) }
/// }
/// let attachment = upload.finish()
/// ```
/// A short one stays in memory until its document is written. If the document isn't written, call
/// ``DocumentStore/discard(_:as:)``.
package struct AttachmentUpload: Sendable {
  /// The name of its pieces: 32 hex digits.
  let name: String
  /// Whether pieces were written to the store.
  package private(set) var isBegun = false
  /// The most bytes that it may have.
  private let limit: Int
  private var held: [[UInt8]] = [[]]
  private var hash = (sha256: SHA256(), sha1: Insecure.SHA1(), md5: Insecure.MD5())
  package private(set) var count = 0
  /// How many pieces were written.
  private(set) var written = 0

  /// Begins an attachment.
  package init(limit: Int) {
    self.limit = limit
    var generator = SystemRandomNumberGenerator()
    name = Hex.string(generator.next(), generator.next())
  }

  package static func tooLarge(_ limit: Int) -> ServiceError {
    ServiceError(.attachmentTooLarge, "An attachment has at most \(limit) bytes")
  }

  /// Whether enough bytes are held to be written.
  package var isFull: Bool {
    held.count > AttachmentLimits.heldBytes / AttachmentLimits.pieceBytes
  }

  /// The bytes in memory.
  package var heldBytes: Int { held.reduce(0) { $0 + $1.count } }

  /// How many bytes may still come.
  package var room: Int { limit - count }

  /// Adds the next bytes.
  /// - Throws: `tooLarge`.
  package mutating func append(_ bytes: [UInt8]) throws {
    guard bytes.count <= limit - count else { throw Self.tooLarge(limit) }
    count += bytes.count
    bytes.withUnsafeBytes { bytes in
      hash.sha256.update(bufferPointer: bytes)
      hash.sha1.update(bufferPointer: bytes)
      hash.md5.update(bufferPointer: bytes)
    }
    var rest = bytes[...]
    while !rest.isEmpty {
      let last = held.count - 1
      let room = AttachmentLimits.pieceBytes - held[last].count
      held[last] += rest.prefix(room)
      rest = rest.dropFirst(room)
      if held[last].count == AttachmentLimits.pieceBytes { held.append([]) }
    }
  }

  /// Removes and returns the pieces that are complete, and the number of the first one.
  /// - Parameter isLast: whether the last one is complete.
  mutating func takePieces(isLast: Bool) -> (first: Int, pieces: [[UInt8]]) {
    let first = written
    var taken = held
    held = [isLast ? [] : taken.removeLast()]
    taken.removeAll(where: \.isEmpty)
    written += taken.count
    isBegun = true
    return (first, taken)
  }

  /// Ends the attachment when all of its bytes have come and, if it is begun, are written.
  package func finish() -> NewAttachment {
    let facts = AttachmentFacts(
      key: AttachmentKey(stored: Hex.string(Array(hash.sha256.finalize()))), length: Int64(count),
      md5: Array(hash.md5.finalize()), sha1: Array(hash.sha1.finalize()), pieces: name)
    // Of no bytes there is nothing in the store.
    return NewAttachment(
      facts: facts, held: isBegun && count > 0 ? nil : held.filter { !$0.isEmpty })
  }
}
