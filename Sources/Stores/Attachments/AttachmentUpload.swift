import Crypto
import Documents

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
    name = Hex.random()
  }

  package static func tooLarge(_ limit: Int) -> ServiceError {
    ServiceError(.attachmentTooLarge, "An attachment has at most \(limit) bytes")
  }

  /// Whether enough bytes are held to be written.
  package var isFull: Bool { held.count > AttachmentLimits.heldBytes / AttachmentLimits.pieceBytes }

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
