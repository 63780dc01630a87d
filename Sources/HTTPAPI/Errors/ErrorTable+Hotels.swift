import HTTPTypes
import Hotels
import Stores

extension ErrorTable {
  /// What the bookmark rules refuse.
  static func hotel(_ error: HotelError) -> Problem {
    switch error.code {
    case .precondition: Problem(.preconditionFailed, "precondition_failed", error.reason)
    case .receiptMismatch:
      Problem(.unprocessableContent, "idempotency_key_reused", error.reason)
    case .invalidBatch, .invalidHotel: Problem(.badRequest, "doc_validation", error.reason)
    case .tooLarge: Problem(.contentTooLarge, "document_too_large", error.reason)
    case .occupied: Problem(.conflict, "conflict", error.reason)
    case .store: error.store.map { problem(for: $0) } ?? .notFound
    }
  }
}
