import CouchSync
import Crypto
import Scheduling
import Stores

/// The bytes of an attachment: new ones, or some that the store has.
typealias LiteContent = SentAttachment.Bytes

extension AttachmentContent {
  /// The bytes that it holds in memory.
  var heldBytes: Int {
    guard case .new(let new) = self else { return 0 }
    return new.heldBytes
  }
}

extension LiteAttachment {
  /// Checks how many bytes have come.
  /// - Throws: 400 for more than the document says.
  func check(_ count: Int) throws(LiteError) {
    guard length.map({ count <= $0 }) ?? true else { throw wrongLength }
  }

  private var wrongLength: LiteError {
    .http(400, "\(name) has another length than the document says")
  }

  /// Checks that bytes are those that it names.
  /// - Throws: 400.
  func check(_ new: NewAttachment) throws(LiteError) {
    guard new.facts.sha1 == digest.bytes else {
      throw .http(400, "The bytes of \(name) have another digest")
    }
    guard length.map({ Int64($0) == new.facts.length }) ?? true else { throw wrongLength }
  }

  /// The attachment with its bytes.
  func sent(_ content: LiteContent) -> SentAttachment {
    SentAttachment(name: name, contentType: contentType, content.facts, content.content)
  }
}

/// The question by which a client proves that it has some bytes.
///
/// The proof is the SHA-1 of the nonce's length in one byte, the nonce, and the bytes.
/// Source: LiteCore, `Pusher::handleProveAttachment`.
struct AttachmentProof: Sendable {
  private static let nonceBytes = 20

  let facts: AttachmentFacts
  let nonce: [UInt8]
  private let proof: LiteDigest

  /// Whether an answer has the proof.
  func isProven(by answer: [UInt8]) -> Bool { answer == Array(proof.text.utf8) }

  /// Makes a question about bytes that the store has; nil if they are damaged, so that the client has to send them again.
  /// - Throws: the store's other errors.
  init?(of facts: AttachmentFacts, in store: some LiteStore) async throws {
    let nonce = (0..<Self.nonceBytes).map { _ in UInt8.random(in: .min ... .max) }
    var hash = Insecure.SHA1()
    hash.update(data: [UInt8(nonce.count)] + nonce)
    do {
      proof = try await store.read { [hash] database in
        try await database.store.read(inSlices: (hash: hash, offset: Int64(0))) { progress, view in
          while progress.offset < facts.length {
            let bytes = try view.bytes(progress.offset..<facts.length, of: facts)
            progress.hash.update(data: bytes)
            progress.offset += Int64(bytes.count)
            if view.slice.isOver { return nil }
          }
          return LiteDigest(Array(progress.hash.finalize()))
        }
      }
    } catch {
      guard ServiceError(error)?.code == .integrity else { throw error }
      return nil
    }
    (self.facts, self.nonce) = (facts, nonce)
  }
}
