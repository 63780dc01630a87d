package import Documents
package import JSON
import Lanes

/// Why an operation failed: the only error type above the rules about documents.
///
/// Functions that can fail are `throws`. They throw this error, or let a ``DocumentError`` or a ``JSONError``
/// pass; ``init(_:)`` converts all of them to this type. `ErrorTable` in `HTTPAPI` gives each code its status and text.
package struct ServiceError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// Details for an operator: result codes, file names. Never shown to a client.
  package let detail: String
  /// After how many whole seconds the client can try again, if that is known.
  package let retryAfterSeconds: Int?

  package init(_ code: Code, _ reason: String, retryAfterSeconds: Int? = nil, detail: String = "") {
    self.code = code
    self.reason = reason
    self.retryAfterSeconds = retryAfterSeconds
    self.detail = detail
  }

  package var debugDescription: String { "ServiceError(\(code): \(reason) \(detail))" }
}

extension ServiceError {
  /// What went wrong. The enumeration is complete, so that `ErrorTable` handles every case. If a name for
  /// clients belongs to only one code, it is the code's raw value.
  package enum Code: String, Sendable, CaseIterable {
    // Stores.
    /// The store does not exist.
    case absent
    /// A store of this name already exists.
    case exists = "file_exists"
    /// The store's file is missing, empty, foreign or damaged. Its data is never shown as an empty store.
    case damaged = "store_damaged"
    /// A stored body or tree fails its checksum.
    case integrity = "integrity_error"
    /// The store can't be opened now: out of descriptors, no permission, the process is stopping.
    case unavailable
    /// Reading or writing failed in the storage.
    case storage = "storage_error"
    /// The disk is full.
    case storageFull = "insufficient_storage"
    /// The disk is read-only.
    case readOnly = "read_only"
    /// The stores are moved to another place, and no change is accepted here.
    case moved = "stores_moved"
    /// It is unknown whether a change was made: the database's answer was lost, or no standby has confirmed
    /// the change.
    case outcomeUnknown = "outcome_unknown"
    /// Too many writes wait for this store.
    case overloaded
    /// The write would exceed the store's quota.
    case quotaExceeded = "quota_exceeded"
    /// No one waits for the result any more, or the request has used all the time that it may use.
    case ended
    /// The store has documents, and only an empty one may be filled.
    case notEmpty = "account_not_empty"
    /// Another import already fills the store.
    case beingFilled = "import_running"
    /// A file of hotels can't be imported as it is.
    case importRefused = "import_refused"
    /// A line of an export is invalid, or lines are missing.
    case invalidExport = "invalid_export"

    // Documents, as in ``DocumentError``.
    /// The revision that the edit is based on is not a leaf.
    case conflict
    /// There is no such document, revision or other object.
    case missing
    /// The document is a tombstone.
    case deleted
    /// The text is not a valid document id.
    case invalidID = "illegal_docid"
    /// The text is not a valid revision.
    case invalidRevision
    /// The document, or an object in its place, is invalid.
    case invalidDocument = "doc_validation"
    case documentTooLarge = "document_too_large"
    case attachmentsUnsupported = "bad_content_type"
    /// The document has the highest number of open branches.
    case tooManyLeaves = "too_many_leaves"
    /// The revision is known with another body.
    case revisionCollision = "rev_collision"

    // JSON, as in ``JSONError``.
    case invalidJSON = "invalid_json"
    case invalidUTF8 = "invalid_utf8"
    /// An object has the same name twice.
    case duplicateKey = "duplicate_key"
    /// Values are nested too deeply.
    case tooDeep = "too_deep"
    /// An object or array has too many members.
    case tooManyMembers = "too_many_members"
    case stringTooLong = "string_too_long"
    /// A number has too many digits.
    case numberOutOfRange = "number_out_of_range"
    /// The text is larger than the limit.
    case jsonTooLarge
    case tooManyValues

    // Requests.
    /// The request can't be understood.
    case badRequest = "bad_request"
    /// A parameter can't be understood.
    case invalidQuery = "query_parse_error"
    /// A parameter has a value that is not allowed.
    case invalidArgument = "bad_arg"
    /// The request or its answer exceeds a limit.
    case tooLarge = "too_large"
    /// The caller has no right to do this.
    case forbidden
    /// The service does not support this.
    case notImplemented = "not_implemented"
    /// The service does not support all-or-nothing writes.
    case notAtomic
    /// The caller uses too many of these at the same time.
    case tooManyRequests = "too_many_requests"
    case invalidDatabaseName = "illegal_database_name"
    case databaseNameTooLong = "database_name_too_long"

    // Mango. CouchDB has a name for each.
    case invalidBookmark = "invalid_bookmark"
    case invalidBoolean = "invalid_boolean"
    case invalidBulkDocs = "invalid_bulk_docs"
    case invalidDesign = "invalid_design_doc"
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
    /// The bookmark is not in the state that the request requires.
    case precondition = "precondition_failed"
    /// The hotel is unknown and is not bookmarked.
    case unknownHotel
    /// A document with the hotel's id exists but is not a hotel.
    case occupied
    /// The idempotency key was used for another request.
    case receiptMismatch = "idempotency_key_reused"

    // Lists.
    /// The invitation was used or withdrawn, or has expired.
    case invitationGone = "invitation_gone"

    // Accounts.
    /// The text is not a valid user name.
    case invalidName = "invalid_username"
    /// The password is too short or too long, is commonly known, or contains a NUL.
    case invalidPassword = "invalid_password"
    /// The user has no password here, so it can't be changed.
    case noPassword
    /// Another user has this name.
    case taken
    /// The user is unknown or the password is wrong; the answer is the same for both.
    case badCredentials
    /// The token was not issued by this service, or was revoked.
    case invalidToken
    case expiredToken
    /// Too many wrong passwords for this name from this address.
    case lockedOut
    /// Too many requests of this kind from this address.
    case tooMany
    /// The guest has become another user's, or was erased.
    case guestSpent = "guest_spent"
    /// The adoption of that guest can no longer be undone.
    case undoOver = "undo_over"
    /// The user is unknown (command line only).
    case unknownUser
    /// Too many passwords wait to be hashed.
    case hashingBusy
    /// Only users can do this; a guest must sign up first.
    case accountNeeded = "account_needed"
    /// The keys of a token's issuer are not available now.
    case issuerUnavailable = "issuer_unavailable"
    /// A file with keys or with the administrator's password is unusable.
    case keys

    /// Whether the storage itself failed: another attempt, or another source, may succeed.
    package var isOfStorage: Bool {
      switch self {
      case .damaged, .integrity, .unavailable, .storage, .storageFull, .readOnly: true
      default: false
      }
    }
  }
}

extension ServiceError {
  /// The error of work that stops before its end. The request knows the reason.
  package static let ended = ServiceError(
    .ended, "The request was ended before it was answered")

  /// The error of a change while the stores are moved, and after that. The other place answers soon, or this one
  /// again if the move fails.
  package static let moved = ServiceError(
    .moved, "The stores are moved to another place, so nothing can be changed here; try again soon",
    retryAfterSeconds: 5)

  /// The error of a guest, a user or a list that is new while the disk is nearly full.
  package static let noSpaceForNewcomers = ServiceError(
    .storageFull,
    "The disk is nearly full. The rest is reserved for existing guests, users and lists"
  )

  package static let absent = ServiceError(.absent, "Database does not exist.")

  /// 400: the request can't be understood.
  package static func badRequest(_ reason: String) -> ServiceError {
    ServiceError(.badRequest, reason)
  }

  /// 400: a query parameter can't be understood.
  package static func badQuery(_ reason: String) -> ServiceError {
    ServiceError(.invalidQuery, reason)
  }

  /// 413: an answer or a request exceeds a limit.
  package static func tooLarge(_ reason: String) -> ServiceError {
    ServiceError(.tooLarge, reason)
  }

  /// Converts any thrown error.
  /// - Returns: nil for an error that the service does not know.
  package init?(_ error: any Error) {
    switch error {
    case let error as ServiceError: self = error
    case let error as DocumentError: self.init(error)
    case let error as JSONError: self.init(error)
    case is WorkEnded: self = .ended
    default: return nil
    }
  }

  /// Converts the error of a rule about documents.
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

  /// Converts the parser's error.
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
