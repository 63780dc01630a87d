package import Documents

/// Why a store did not do what it was asked. The reason may be shown to a client.
package struct StoreError: Error, Sendable, CustomDebugStringConvertible {
  /// What went wrong; closed, so that each adapter maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// There is no such store.
    case absent
    /// A store of this name exists already.
    case exists
    /// The store's file is missing, empty, foreign or damaged. Its data is never shown as an empty
    /// store.
    case damaged
    /// A stored body or tree fails its checksum.
    case integrity
    /// The store can't be opened now: out of descriptors, no permission, the process is stopping.
    case unavailable
    /// Reading or writing failed below.
    case storage
    /// The disk is full.
    case storageFull
    /// The disk is read-only.
    case readOnly
    /// More writes are waiting for this store than it takes.
    case overloaded
    /// The write would exceed the store's quota.
    case quotaExceeded
    /// Nobody waits for the result any more, or it may cost no more.
    case ended
    /// The rules refuse the edit; see ``StoreError/document``.
    case rejected
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// What an operator needs: result codes, file names. Never shown to a client.
  package let detail: String
  /// The rule's own error where ``code`` is `rejected`.
  package let document: DocumentError?

  /// An error with its words.
  package init(_ code: Code, _ reason: String, detail: String = "") {
    self.code = code
    self.reason = reason
    self.detail = detail
    self.document = nil
  }

  /// The rules' refusal of an edit.
  package init(_ error: DocumentError) {
    code = error.code == .damaged ? .integrity : .rejected
    reason = error.reason
    detail = ""
    document = error
  }

  /// The error of work that goes no further; why, its request knows.
  package static let ended = StoreError(.ended, "The request was ended before it was answered")

  /// The error of a store that does not exist.
  package static let absent = StoreError(.absent, "Database does not exist.")

  package var debugDescription: String { "StoreError(\(code.rawValue): \(reason) \(detail))" }
}

/// Runs a document rule where a store's own errors are expected.
/// - Throws: ``StoreError`` with code `rejected` for what the rule throws.
package func applying<Value>(
  _ rule: () throws(DocumentError) -> Value
) throws(StoreError) -> Value {
  do { return try rule() } catch { throw StoreError(error) }
}

/// An error that can say that a store failed: what ``DatabaseManager/withStore(_:creating:_:)``
/// needs of a use case's own error to throw nothing else.
package protocol StoreFailure: Error {
  /// The error that stands for a store's failure.
  init(_ error: StoreError)
}

extension StoreError: StoreFailure {
  /// The same error.
  package init(_ error: StoreError) { self = error }
}
