import Crypto
import Documents
import Stores

/// What is kept of a batch for its retries: the answer, and what tells the request from another.
///
/// `{"fingerprint":hex,"expires":ms,"answer":{…}}`
struct BatchReceipt {
  private let answer: BatchAnswer
  private let fingerprint: [UInt8]
  private let expires: Timestamp

  /// The receipt of an answer.
  init(_ answer: BatchAnswer, fingerprint: [UInt8], expires: Timestamp) {
    self.answer = answer
    self.fingerprint = fingerprint
    self.expires = expires
  }

  /// Reads a receipt as ``bytes`` wrote it; nil for one that is past its time, or anything else.
  init?(parsing bytes: [UInt8], at now: Timestamp) {
    guard let root = try? ParsedJSON(bytes, limits: .request).root,
      let milliseconds = root["expires"]?.int,
      let text = root["fingerprint"]?.string, let fingerprint = Hex.bytes(text.utf8),
      let answer = root["answer"]
    else { return nil }
    expires = Timestamp(milliseconds: Int64(milliseconds))
    guard expires > now else { return nil }
    self.answer = BatchAnswer(kept: answer)
    self.fingerprint = fingerprint
  }

  /// The receipt's JSON.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("fingerprint", Hex.string(fingerprint))
    writer.member("expires", Int(clamping: expires.milliseconds))
    writer.member("answer", raw: answer.bytes)
    writer.endObject()
    return writer.bytes
  }

  /// The kept answer.
  /// - Throws: `receiptMismatch` when the receipt is another request's.
  func answer(to request: ReceiptRequest) throws(HotelError) -> BatchAnswer {
    guard fingerprint == request.fingerprint else {
      throw HotelError(
        .receiptMismatch, "The idempotency key was used for another request before")
    }
    return answer
  }
}

/// A wish that a repeated batch is answered and not done again: an idempotency key and what tells one
/// request from another.
///
/// Source: IETF draft "The Idempotency-Key HTTP Header Field".
package struct ReceiptRequest: Sendable {
  /// The client's key; compared by its bytes.
  package let key: String
  /// SHA-256 of the request, 32 bytes.
  package let fingerprint: [UInt8]
  /// How long the answer is kept, in seconds.
  package let lifetimeSeconds: Int64

  /// A receipt's request.
  /// - Returns: nil when the key has not 1 to ``BookmarkLimits/receiptKeyBytes`` bytes.
  package init?(
    key: String, fingerprint: [UInt8], lifetimeSeconds: Int64 = BookmarkLimits.receiptSeconds
  ) {
    guard (1...BookmarkLimits.receiptKeyBytes).contains(key.utf8.count) else { return nil }
    self.key = key
    self.fingerprint = fingerprint
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// The local document that keeps the answer: ``LocalID/batchPrefix`` and the SHA-256 of the key.
  var id: LocalID {
    LocalID(batch: Hex.string(Array(SHA256.hash(data: Array(key.utf8)))))
  }
}
