import Crypto
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

extension HTTPService {
  /// Several bookmarks at once, all or nothing. With an `Idempotency-Key` the answer is kept in the store, in
  /// the same transaction, and a retry gets it again.
  func changeBookmarks(_ call: Call, in store: StoreName) async throws -> Response {
    let bytes = try await call.body(upTo: JSONLimits.document.maximumBytes)
    let batch = try BookmarkBatch(parsing: try call.json(bytes, .document))
    let answer = try await hotels.change(
      batch, in: store, receipt: try Self.receipt(call, body: bytes))
    return .json(answer.bytes)
  }

  private static func receipt(_ call: Call, body: [UInt8]) throws(Problem) -> ReceiptRequest? {
    guard let key = call[.idempotencyKey] else { return nil }
    let request = ReceiptRequest(key: key, fingerprint: Array(SHA256.hash(data: body)))
    guard let request else {
      throw Problem(
        .badRequest, "invalid_header",
        "Idempotency-Key must have 1 to \(BookmarkLimits.receiptKeyBytes) bytes")
    }
    return request
  }
}
