package import Stores

/// Why bookmarks were not read or changed as asked. The reason may be shown to a client.
package struct HotelError: Error, Sendable, CustomDebugStringConvertible {
  /// What went wrong; closed, so that each adapter maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The store failed or refused; see ``HotelError/store``.
    case store
    /// The bookmark is not in the state that the request demands (412).
    case precondition
    /// The batch is not as it must be (400).
    case invalidBatch
    /// The hotel can't be stored as a hotel's document (400).
    case invalidHotel
    /// The hotel's body is over ``BookmarkLimits/hotelBytes`` (413).
    case tooLarge
    /// No hotel of the id is known, and none is bookmarked (404).
    case unknownHotel
    /// A document that is no hotel has the hotel's id (409).
    case occupied
    /// The idempotency key was used for another request (422).
    case receiptMismatch
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// The store's own error where ``code`` is `store`.
  package let store: StoreError?

  /// An error with its words.
  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
    self.store = nil
  }

  /// A store's failure or refusal.
  package init(_ error: StoreError) {
    code = .store
    reason = error.reason
    store = error
  }

  package var debugDescription: String {
    "HotelError(\(code.rawValue): \(store?.debugDescription ?? reason))"
  }
}
