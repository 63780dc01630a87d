import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// A request's parts in the form that the sync protocol's operations need.
extension Call {
  /// The query's parameters, decoded once, in order. As in CouchDB, unknown ones are ignored, the last of several with the
  /// same name counts, and `;` separates them, too (mochiweb's `parse_qs`).
  /// - Throws: ``Problem`` 400 for a broken escape or invalid UTF-8.
  func couchParameters() throws(Problem) -> CouchParameters {
    CouchParameters(try Self.pairs((request.uri.query ?? "").utf8, separators: "&;"))
  }

  /// The `name=value` pairs of a query or a form.
  static func pairs(
    _ text: some Collection<UInt8>, separators: String = "&"
  ) throws(Problem) -> [(name: String, value: String)] {
    try text.split { separators.utf8.contains($0) }
      .map { pair throws(Problem) in try RequestTarget.pair(pair) }
  }

  /// The body of a `POST`, which has to be an object.
  /// - Throws: ``Problem`` 413 and 415; 400 for anything but an object.
  func couchObject() async throws -> JSONNode {
    try await couchObject(try await body(upTo: CouchLimits.bulk.maximumBytes))
  }

  private func couchObject(_ bytes: [UInt8]) async throws -> JSONNode {
    // As in CouchDB its type has to be named.
    let node = try await json(bytes, CouchLimits.bulk, isNamed: true)
    guard node.kind == .object else { throw CouchBody.noObject }
    return node
  }

  /// The body of a `POST` of one document, which contains its own id.
  /// - Throws: ``Problem`` 413 and 415; 400 for invalid JSON.
  func couchPosted(_ limits: DocumentLimits) async throws -> JSONNode {
    try await json(
      try await body(upTo: CouchLimits.bulk.maximumBytes), limits.bulk, isNamed: true)
  }

  /// The body of a `POST`, which may be absent.
  /// - Throws: the errors of ``couchObject()``.
  func couchObjectIfAny() async throws -> JSONNode? {
    let bytes = try await body(upTo: CouchLimits.bulk.maximumBytes)
    guard !bytes.isEmpty else { return nil }
    return try await couchObject(bytes)
  }

  /// Whether `Accept` names a type of several parts. A wildcard does not: most clients that send it expect JSON.
  func accepts(_ type: String) -> Bool { self[.accept]?.lowercased().contains(type) ?? false }

  /// The body of a `PUT` of one document that is one part. As in CouchDB its content type is ignored, except for those
  /// of several parts.
  /// - Throws: ``Problem`` 413; 415 for a body of several parts; 400 for invalid JSON.
  func couchDocument(_ limits: DocumentLimits) async throws -> JSONNode {
    if self[.contentType]?.lowercased().hasPrefix("multipart/") ?? false {
      throw ServiceError(
        .attachmentsUnsupported,
        "Content-Type must be application/json, or multipart/related with a boundary")
    }
    let bytes = try await body(upTo: limits.document.maximumBytes)
    return try await Self.parsed(bytes, limits.document)
  }
}

/// Errors that only routes of `/couch` use.
extension ServiceError {
  /// The answer for a database that is absent or belongs to another person: the same bytes for both.
  static let noDatabase = ServiceError.absent

  /// The answer for what only the server's administrator may do, whether or not its subject exists.
  static let notAdministrator = ServiceError(.forbidden, "You are not a server admin.")

  /// The answer for a right that a user of the database lacks.
  static func missing(_ right: CouchRole.Right) -> ServiceError {
    switch right {
    case .use: noDatabase
    case .design, .compact, .purge: ServiceError(.forbidden, "You are not a db or server admin.")
    case .secure: notAdministrator
    }
  }

  /// The answer for a new database with an invalid name.
  static func illegalName(_ reason: String) -> ServiceError {
    ServiceError(.invalidDatabaseName, reason)
  }

  /// The answer for a part of CouchDB that this server does not offer.
  static func notOffered(_ what: String) -> ServiceError {
    ServiceError(.notImplemented, "\(what) not offered here")
  }
}
