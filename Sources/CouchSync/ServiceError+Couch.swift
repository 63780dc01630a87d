import Documents
package import Stores

extension ServiceError.Code {
  /// The bytes of an attachment are not those whose digest was sent.
  package static let digestMismatch = Self("digestMismatch")
  package static let invalidBulkDocs = Self("invalidBulkDocs")
  package static let invalidDesign = Self("invalidDesign")
  /// The revision that a change of an attachment begins from is not here.
  package static let missingRevision = Self("missingRevision")
  /// The service does not support all-or-nothing writes.
  package static let notAtomic = Self("notAtomic")
}

extension ServiceError {
  /// The error as it is written in the answer to a peer's revisions (`new_edits=false`).
  ///
  /// An error that no repetition can avoid becomes `forbidden`: PouchDB reports such a document as denied and
  /// continues. With any other code it would push the same batch again and again.
  package var forReplication: ServiceError {
    switch code {
    case .attachmentsUnsupported, .attachmentTooLarge, .invalidAttachment, .badRequest,
      .invalidRevision, .invalidJSON, .invalidUTF8, .duplicateKey, .tooDeep, .jsonTooLarge,
      .tooManyMembers, .tooManyValues, .stringTooLong, .numberOutOfRange, .documentTooLarge,
      .invalidID, .invalidDocument, .revisionCollision, .tooManyLeaves:
      ServiceError(.forbidden, reason, detail: detail)
    default: self
    }
  }

  /// Writes the members `error` and `reason` into an open object.
  /// - Parameter word: gives the word of a code.
  func appendMembers(to writer: inout JSONWriter, _ word: (Code) -> String) {
    writer.member("error", word(code))
    writer.member("reason", reason)
  }

  /// 404 for a document or revision that is unknown, with CouchDB's text.
  package static let missing = ServiceError(.missing, "missing")

  /// 404 for a document that has no such attachment, with CouchDB's text.
  package static let noAttachment = ServiceError(.missing, "Document is missing attachment")

  /// 409 for a change of an attachment of a revision that is not here, with CouchDB's text.
  package static let missingRevision = ServiceError(.missingRevision, "missing_rev")

  /// 400 for bytes that have another MD5 than was sent, with CouchDB's text.
  package static let digestMismatch = ServiceError(.digestMismatch, "Possible message corruption.")

  /// 412 for making a database that exists, with CouchDB's text.
  package static let databaseExists = ServiceError(
    .exists, "The database could not be created, the file already exists.")
}
