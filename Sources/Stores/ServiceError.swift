package import Documents
package import JSON
import Lanes

/// Why something was not done as asked: the one error of everything above the rules about documents.
///
/// Functions that can fail are `throws`. They throw this, or let a ``DocumentError`` or a ``JSONError`` pass;
/// ``init(_:)`` makes one of these of all. `ErrorTable` in `HTTPAPI` says which status and words each code has.
package struct ServiceError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// What an operator needs: result codes, file names. Never shown to a client.
  package let detail: String
  /// Whole seconds after which trying again makes sense, where that is known.
  package let retryAfterSeconds: Int?

  /// An error with its words.
  package init(_ code: Code, _ reason: String, retryAfterSeconds: Int? = nil, detail: String = "") {
    self.code = code
    self.reason = reason
    self.retryAfterSeconds = retryAfterSeconds
    self.detail = detail
  }

  package var debugDescription: String { "ServiceError(\(code): \(reason) \(detail))" }
}

extension ServiceError {
  /// What went wrong; closed, so that `ErrorTable` maps every case. Raw values are the names that clients read, where
  /// one name belongs to one code.
  package enum Code: String, Sendable, CaseIterable {
    // Stores.
    /// There is no such store.
    case absent
    /// A store of this name exists already.
    case exists = "file_exists"
    /// The store's file is missing, empty, foreign or damaged. Its data is never shown as an empty store.
    case damaged = "store_damaged"
    /// A stored body or tree fails its checksum.
    case integrity = "integrity_error"
    /// The store can't be opened now: out of descriptors, no permission, the process is stopping.
    case unavailable
    /// Reading or writing failed below.
    case storage = "storage_error"
    /// The disk is full.
    case storageFull = "insufficient_storage"
    /// The disk is read-only.
    case readOnly = "read_only"
    /// A change may have been made or not: the answer of the database was lost, or no standby has confirmed it.
    case outcomeUnknown = "outcome_unknown"
    /// More writes are waiting for this store than it takes.
    case overloaded
    /// The write would exceed the store's quota.
    case quotaExceeded = "quota_exceeded"
    /// Nobody waits for the result any more, or it may cost no more.
    case ended
    /// The store has documents, and only an empty one may be filled.
    case notEmpty = "account_not_empty"
    /// The store is being filled already.
    case beingFilled = "import_running"
    /// A line of an export is not as it must be, or lines are missing.
    case invalidExport = "invalid_export"

    // Documents, as in ``DocumentError``.
    /// The revision that the edit is based on is no leaf.
    case conflict
    /// There is no such document, revision or other thing.
    case missing
    /// The document is a tombstone.
    case deleted
    /// The id can't be a document's.
    case invalidID = "illegal_docid"
    /// The text is no revision.
    case invalidRevision
    /// The document, or what stands for one, is not as it must be.
    case invalidDocument = "doc_validation"
    /// The document is over its size.
    case documentTooLarge = "document_too_large"
    /// Attachments are not supported.
    case attachmentsUnsupported = "bad_content_type"
    /// The document has as many open branches as it may have.
    case tooManyLeaves = "too_many_leaves"
    /// A revision of that id exists with another history.
    case revisionCollision = "rev_collision"

    // JSON, as in ``JSONError``.
    /// The text is no JSON.
    case invalidJSON = "invalid_json"
    /// A string is not UTF-8.
    case invalidUTF8 = "invalid_utf8"
    /// An object has a name twice.
    case duplicateKey = "duplicate_key"
    /// Values stand in one another too deep.
    case tooDeep = "too_deep"
    /// An object or array has too many members.
    case tooManyMembers = "too_many_members"
    /// A string is too long.
    case stringTooLong = "string_too_long"
    /// A number has too many digits.
    case numberOutOfRange = "number_out_of_range"
    /// The text is over its size.
    case jsonTooLarge
    /// The text has too many values.
    case tooManyValues

    // Requests.
    /// The request can't be understood.
    case badRequest = "bad_request"
    /// A parameter can't be understood.
    case invalidQuery = "query_parse_error"
    /// A parameter has a value that it can't have.
    case invalidArgument = "bad_arg"
    /// The request or its answer is over a limit.
    case tooLarge = "too_large"
    /// The caller may not do that.
    case forbidden
    /// It is not offered.
    case notImplemented = "not_implemented"
    /// All or nothing is not offered.
    case notAtomic
    /// The caller has too much of this at once.
    case tooManyRequests = "too_many_requests"
    /// The text is no database's name.
    case invalidDatabaseName = "illegal_database_name"
    /// The name is too long for a database.
    case databaseNameTooLong = "database_name_too_long"

    // Mango. CouchDB has a name for each.
    case invalidBookmark = "invalid_bookmark"
    case invalidBoolean = "invalid_boolean"
    case invalidBulkDocs = "invalid_bulk_docs"
    case invalidDesignLanguage = "invalid_ddoc_lang"
    case invalidField = "invalid_field"
    case invalidFieldName = "invalid_field_name"
    case invalidFields = "invalid_fields"
    case invalidIndex = "invalid_index"
    case invalidIndexName = "invalid_index_name"
    case invalidKey = "invalid_key"
    case invalidNonNegativeInteger = "invalid_non_neg_integer"
    case invalidStaleValue = "invalid_ok_or_false_value"
    case invalidOperator = "invalid_operator"
    case invalidPartitionedValue = "invalid_partitioned_value"
    case invalidPositiveInteger = "invalid_pos_integer"
    case invalidSelector = "invalid_selector"
    case invalidSelectorJSON = "invalid_selector_json"
    case invalidSortField = "invalid_sort_field"
    case invalidSortJSON = "invalid_sort_json"
    case invalidString = "invalid_string"
    case missingRequiredKey = "missing_required_key"
    case noUsableIndex = "no_usable_index"
    case notSupported = "not_supported"
    case selectorTooCostly = "selector_too_costly"
    case unsupportedMixedSort = "unsupported_mixed_sort"

    // Bookmarks.
    /// The bookmark is not in the state that the request demands.
    case precondition = "precondition_failed"
    /// No hotel of the id is known, and none is bookmarked.
    case unknownHotel
    /// A document that is no hotel has the hotel's id.
    case occupied
    /// The idempotency key was used for another request.
    case receiptMismatch = "idempotency_key_reused"

    // Lists.
    /// The invitation was used, withdrawn or has expired.
    case invitationGone = "invitation_gone"

    // Accounts.
    /// The name can't be a user's.
    case invalidName = "invalid_username"
    /// The password is too short, too long, known to everybody or has a NUL.
    case invalidPassword = "invalid_password"
    /// Who has no password here can't change it.
    case noPassword
    /// The name belongs to somebody.
    case taken
    /// No such user, or not their password; in the same words.
    case badCredentials
    /// The token is not one of ours, or was revoked.
    case invalidToken
    /// The token was good once.
    case expiredToken
    /// Too many wrong passwords for this name from this address.
    case lockedOut
    /// Too many requests of this kind from this address.
    case tooMany
    /// That guest has become another user's, or was erased.
    case guestSpent = "guest_spent"
    /// What was taken over from that guest can't be undone any more.
    case undoOver = "undo_over"
    /// No such user (command line only).
    case unknownUser
    /// More passwords are waiting to be hashed than the service takes.
    case hashingBusy
    /// It is for users; a guest has to sign up first.
    case accountNeeded = "account_needed"
    /// The keys of a token's issuer can't be had now.
    case issuerUnavailable = "issuer_unavailable"
    /// A file of keys or of the administrator's password can't be used.
    case keys

    /// Whether the storage itself failed: another try, or another way, may find what is asked for.
    package var isOfStorage: Bool {
      switch self {
      case .damaged, .integrity, .unavailable, .storage, .storageFull, .readOnly: true
      default: false
      }
    }
  }
}

extension ServiceError {
  /// The error of work that goes no further; why, its request knows.
  package static let ended = ServiceError(
    .ended, "The request was ended before it was answered")

  /// The error of a store that does not exist.
  package static let absent = ServiceError(.absent, "Database does not exist.")

  /// 400 for a request that can't be understood.
  package static func badRequest(_ reason: String) -> ServiceError {
    ServiceError(.badRequest, reason)
  }

  /// 400 for a parameter of a query that can't be understood.
  package static func badQuery(_ reason: String) -> ServiceError {
    ServiceError(.invalidQuery, reason)
  }

  /// 413 for an answer or a request beyond a limit.
  package static func tooLarge(_ reason: String) -> ServiceError {
    ServiceError(.tooLarge, reason)
  }

  /// What any thrown error is.
  /// - Returns: nil for one that the service does not know.
  package init?(_ error: any Error) {
    switch error {
    case let error as ServiceError: self = error
    case let error as DocumentError: self.init(error)
    case let error as JSONError: self.init(error)
    case is WorkEnded: self = .ended
    default: return nil
    }
  }

  /// The refusal of a rule about documents.
  package init(_ error: DocumentError) {
    if let json = error.json {
      self.init(json)
      return
    }
    let code: Code =
      switch error.code {
      case .conflict: .conflict
      case .missing: .missing
      case .deleted: .deleted
      case .invalidID: .invalidID
      case .invalidRevision: .invalidRevision
      case .invalidDocument: .invalidDocument
      case .invalidJSON: .invalidJSON
      case .tooLarge: .documentTooLarge
      case .attachmentsUnsupported: .attachmentsUnsupported
      case .tooManyLeaves: .tooManyLeaves
      case .revisionCollision: .revisionCollision
      case .damaged: .integrity
      }
    self.init(code, error.reason)
  }

  /// The parser's refusal.
  package init(_ error: JSONError) {
    let code: Code =
      switch error.code {
      case .invalidJSON: .invalidJSON
      case .invalidUTF8: .invalidUTF8
      case .duplicateKey: .duplicateKey
      case .tooDeep: .tooDeep
      case .tooLarge: .jsonTooLarge
      case .tooManyMembers: .tooManyMembers
      case .tooManyValues: .tooManyValues
      case .stringTooLong: .stringTooLong
      case .numberOutOfRange: .numberOutOfRange
      }
    self.init(code, error.reason)
  }
}
