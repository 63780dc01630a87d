package import Documents
import Scheduling

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

  /// The error as one line for an operator, with the detail if there is one. Never shown to a client.
  package var message: String {
    let message = detail.isEmpty ? reason : "\(reason) (\(detail))"
    return message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// What went wrong. The target whose idea a code is declares it. `ErrorTable` gives each code its status and word.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name in metrics and logs.
    package let description: String

    /// Makes a code of the name of its constant.
    package init(_ name: String) { description = name }
  }
}

extension ServiceError.Code {
  // Stores.
  package static let absent = Self("absent")
  package static let exists = Self("exists")
  /// The store's file is missing, empty, foreign or damaged. Its data is never shown as an empty store.
  package static let damaged = Self("damaged")
  /// A stored body or tree fails its checksum.
  package static let integrity = Self("integrity")
  /// The store can't be opened now: out of descriptors, no permission, the process is stopping.
  package static let unavailable = Self("unavailable")
  /// Reading or writing failed in the storage.
  package static let storage = Self("storage")
  package static let storageFull = Self("storageFull")
  package static let readOnly = Self("readOnly")
  /// The stores are moved to another place, and no change is accepted here.
  package static let moved = Self("moved")
  /// It is unknown whether a change was made: the database's answer was lost, or no standby has confirmed
  /// the change.
  package static let outcomeUnknown = Self("outcomeUnknown")
  /// Too many writes wait for this store.
  package static let overloaded = Self("overloaded")
  /// The write would exceed the store's quota.
  package static let quotaExceeded = Self("quotaExceeded")
  /// No one waits for the result any more, or the request has used all the time that it may use.
  package static let ended = Self("ended")
  /// The store has documents, and only an empty one may be filled.
  package static let notEmpty = Self("notEmpty")
  /// Another import already fills the store.
  package static let beingFilled = Self("beingFilled")
  /// A line of an export is invalid, or lines are missing.
  package static let invalidExport = Self("invalidExport")

  // Documents, as in ``DocumentError``.
  /// The revision that the edit is based on is not a leaf.
  package static let conflict = Self("conflict")
  /// There is no such document, revision or other object.
  package static let missing = Self("missing")
  /// The document is a tombstone.
  package static let deleted = Self("deleted")
  package static let invalidID = Self("invalidID")
  package static let invalidRevision = Self("invalidRevision")
  /// The document, or an object in its place, is invalid.
  package static let invalidDocument = Self("invalidDocument")
  package static let documentTooLarge = Self("documentTooLarge")
  package static let attachmentsUnsupported = Self("attachmentsUnsupported")
  package static let attachmentTooLarge = Self("attachmentTooLarge")
  package static let invalidAttachment = Self("invalidAttachment")
  package static let missingStub = Self("missingStub")
  /// The document has the highest number of open branches.
  package static let tooManyLeaves = Self("tooManyLeaves")
  /// The revision is known with another body.
  package static let revisionCollision = Self("revisionCollision")

  // JSON, as in ``JSONError``.
  package static let invalidJSON = Self("invalidJSON")
  package static let invalidUTF8 = Self("invalidUTF8")
  /// An object has the same name twice.
  package static let duplicateKey = Self("duplicateKey")
  package static let tooDeep = Self("tooDeep")
  package static let tooManyMembers = Self("tooManyMembers")
  package static let stringTooLong = Self("stringTooLong")
  /// A number has too many digits.
  package static let numberOutOfRange = Self("numberOutOfRange")
  /// The text is larger than the limit.
  package static let jsonTooLarge = Self("jsonTooLarge")
  package static let tooManyValues = Self("tooManyValues")

  // Requests.
  /// The request can't be understood.
  package static let badRequest = Self("badRequest")
  /// A parameter can't be understood.
  package static let invalidQuery = Self("invalidQuery")
  /// The request or its answer exceeds a limit.
  package static let tooLarge = Self("tooLarge")
  package static let forbidden = Self("forbidden")
  /// The caller may read this, and not write it, whatever it contains.
  package static let noRight = Self("noRight")
  package static let notImplemented = Self("notImplemented")

  // Writes that are repeated.
  /// The idempotency key was used for another request.
  package static let receiptMismatch = Self("receiptMismatch")

  // Adoptions, which `Accounts` and `Hotels` share.
  /// The adoption of that guest can no longer be undone.
  package static let undoOver = Self("undoOver")

  /// Whether what is stored was found damaged, which no other attempt changes.
  package var isOfDamage: Bool { self == .damaged || self == .integrity }

  /// Whether the storage itself failed: another attempt, or another source, may succeed.
  package var isOfStorage: Bool {
    switch self {
    case .damaged, .integrity, .unavailable, .storage, .storageFull, .readOnly: true
    default: false
    }
  }
}

extension ServiceError {
  /// The error of work that stops before its end. The request knows the reason.
  package static let ended = ServiceError(.ended, "The request was ended before it was answered")

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
  package static func tooLarge(_ reason: String) -> ServiceError { ServiceError(.tooLarge, reason) }

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
      case .tooLarge: .documentTooLarge
      case .attachmentLimit: .invalidAttachment
      case .damaged: .integrity
      // The others have the same names here.
      case let code: Code(code.rawValue)
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
