import Crypto
import Documents

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
