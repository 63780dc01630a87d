import CouchSync
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// A request's parts as the dialect's verbs take them.
extension Call {
  /// The query's parameters, decoded once, in order. CouchDB ignores those that it does not know; of a name that
  /// comes twice the last counts.
  /// - Throws: ``Problem`` 400 for a broken escape or invalid UTF-8.
  func couchParameters() throws(Problem) -> CouchParameters {
    CouchParameters(try Self.pairs((request.uri.query ?? "").utf8))
  }

  /// `name=value` pairs joined by `&`, of a query or a form.
  /// Source: WHATWG URL, "application/x-www-form-urlencoded parsing".
  static func pairs(
    _ text: some Collection<UInt8>
  ) throws(Problem) -> [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let name = try RequestTarget.decode(
        pair.prefix { $0 != UInt8(ascii: "=") }, plusIsSpace: true, what: "The query")
      let value = try RequestTarget.decode(
        pair.drop { $0 != UInt8(ascii: "=") }.dropFirst(), plusIsSpace: true,
        what: "The query parameter")
      pairs.append((name, value))
    }
    return pairs
  }

  /// The body of a `POST`, an object.
  /// - Throws: ``Problem`` 413 and 415; 400 for what is no object.
  func couchObject() async throws -> JSONNode {
    try await couchObject(try await body(upTo: CouchLimits.bulk.maximumBytes))
  }

  private func couchObject(_ bytes: [UInt8]) async throws -> JSONNode {
    let node = try await json(bytes, CouchLimits.bulk)
    guard node.kind == .object else {
      throw CouchBody.noObject
    }
    return node
  }

  /// The body of a `POST` of one document, which says itself what it is.
  /// - Throws: ``Problem`` 413 and 415; 400 for what is no JSON.
  func couchPosted(_ limits: DocumentLimits) async throws -> JSONNode {
    try await json(try await body(upTo: CouchLimits.bulk.maximumBytes), limits.bulk)
  }

  /// The body of a `POST` to `_bulk_docs`.
  /// - Throws: as ``couchObject()``.
  func couchBulk(_ limits: DocumentLimits) async throws -> BulkRequest {
    let bytes = try await body(upTo: CouchLimits.bulk.maximumBytes)
    try requireJSON()
    return try await BulkRequest.read(bytes, limits: limits)
  }

  /// The body of a `POST` that may come without one.
  /// - Throws: as ``couchObject()``.
  func couchObjectIfAny() async throws -> JSONNode? {
    let bytes = try await body(upTo: CouchLimits.bulk.maximumBytes)
    guard !bytes.isEmpty else { return nil }
    return try await couchObject(bytes)
  }

  /// The body of a `PUT` of one document. As in CouchDB its type is not looked at, but for the parts that
  /// attachments come in.
  /// - Throws: ``Problem`` 413; 415 for attachments; 400 for what is no JSON.
  func couchDocument(_ limits: DocumentLimits) async throws -> JSONNode {
    if self[.contentType]?.lowercased().hasPrefix("multipart/") ?? false {
      throw ServiceError(.attachmentsUnsupported, "Attachments are not supported")
    }
    let bytes = try await body(upTo: limits.document.maximumBytes)
    return try await Self.parsed(bytes, limits.document)
  }
}

/// What only routes of `/couch` refuse.
extension ServiceError {
  /// The answer to a database that is not there or is another's: the same bytes for both.
  static let noDatabase = ServiceError.absent

  /// The answer to what only the server's administrator may do, whether what it is about is there or not.
  static let notAdministrator = ServiceError(.forbidden, "You are not a server admin.")

  /// The answer to what a caller may not do with a database that they may use.
  static func missing(_ right: CouchRole.Right) -> ServiceError {
    switch right {
    case .use: noDatabase
    case .design, .compact, .purge:
      ServiceError(.forbidden, "You are not a db or server admin.")
    case .secure: notAdministrator
    }
  }

  /// The answer to making a database of a name that none can have.
  static func illegalName(_ reason: String) -> ServiceError {
    ServiceError(.invalidDatabaseName, reason)
  }

  /// The answer to a part of CouchDB that is not offered.
  static func notOffered(_ what: String) -> ServiceError {
    ServiceError(.notImplemented, "\(what) not offered here")
  }
}
