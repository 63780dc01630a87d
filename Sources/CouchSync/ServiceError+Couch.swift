import JSON
package import Stores

extension ServiceError {
  /// The status and error code that a CouchDB client gets for this error: the `/couch` column of `ErrorTable`. It is in
  /// this target because the elements of `_bulk_docs` and `_bulk_get` answers contain the error code.
  ///
  /// Source: CouchDB, "HTTP status codes" and "JSON structure reference: CouchDB error status".
  package var couch: (status: Int, error: String) {
    switch code {
    case .badRequest, .invalidRevision, .invalidJSON, .invalidUTF8: (400, "bad_request")
    case .invalidQuery, .invalidArgument, .invalidID, .invalidDocument, .duplicateKey, .tooDeep,
      .tooManyMembers, .stringTooLong, .numberOutOfRange, .invalidDatabaseName,
      .databaseNameTooLong, .invalidBookmark, .invalidBoolean, .invalidBulkDocs,
      .invalidDesign, .invalidDesignLanguage, .invalidField, .invalidFieldName, .invalidFields,
      .invalidIndex, .invalidIndexName, .invalidKey, .invalidNonNegativeInteger, .invalidStaleValue,
      .invalidOperator, .invalidPartitionedValue, .invalidPositiveInteger, .invalidSelector,
      .invalidSelectorJSON, .invalidSortField, .invalidSortJSON, .invalidString,
      .missingRequiredKey, .noUsableIndex, .notSupported, .selectorTooCostly, .unsupportedMixedSort,
      .invalidName, .invalidPassword:
      (400, code.rawValue)
    case .badCredentials, .invalidToken, .expiredToken, .guestSpent: (401, "unauthorized")
    case .forbidden, .noPassword: (403, "forbidden")
    case .accountNeeded: (403, code.rawValue)
    case .absent, .missing, .deleted, .unknownHotel, .unknownUser: (404, "not_found")
    case .conflict, .occupied, .taken: (409, "conflict")
    case .tooManyLeaves, .revisionCollision, .notEmpty, .beingFilled: (409, code.rawValue)
    case .invitationGone, .undoOver: (410, code.rawValue)
    case .exists, .precondition: (412, code.rawValue)
    case .tooLarge, .jsonTooLarge, .tooManyValues: (413, "too_large")
    case .documentTooLarge: (413, code.rawValue)
    case .attachmentsUnsupported: (415, code.rawValue)
    case .notAtomic: (417, "not_implemented")
    case .receiptMismatch, .invalidExport, .importRefused: (422, code.rawValue)
    case .overloaded, .tooManyRequests, .lockedOut, .tooMany: (429, "too_many_requests")
    case .integrity: (500, code.rawValue)
    case .notImplemented: (501, code.rawValue)
    case .damaged, .storage, .readOnly, .moved, .outcomeUnknown, .issuerUnavailable:
      (503, code.rawValue)
    case .unavailable, .ended, .hashingBusy, .keys: (503, "unavailable")
    case .storageFull, .quotaExceeded: (507, code.rawValue)
    }
  }

  /// The error as it is written in the answer to a peer's revisions (`new_edits=false`).
  ///
  /// An error that no repetition can avoid becomes `forbidden`: PouchDB reports such a document as denied and
  /// continues. With any other code it would push the same batch again and again.
  var forReplication: ServiceError {
    switch code {
    case .attachmentsUnsupported, .badRequest, .invalidRevision, .invalidJSON, .invalidUTF8,
      .documentTooLarge, .invalidID, .invalidDocument, .revisionCollision, .tooManyLeaves:
      ServiceError(.forbidden, reason, detail: detail)
    default: self
    }
  }

  /// Writes the members `error` and `reason` into an open object.
  func appendMembers(to writer: inout JSONWriter) {
    writer.member("error", couch.error)
    writer.member("reason", reason)
  }
}

extension ServiceError {
  /// 404 for a document or revision that is unknown, with CouchDB's text.
  package static let missing = ServiceError(.missing, "missing")

  /// 412 for making a database that exists, with CouchDB's text.
  package static let databaseExists = ServiceError(
    .exists, "The database could not be created, the file already exists.")
}
