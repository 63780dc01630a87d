package import Documents
package import Stores

/// The users who may use a database that the administrator made: CouchDB's security object.
///
/// Only the names of users count. Roles are stored but grant nothing, because only the administrator has a role and
/// needs no permission. An empty list of members grants nothing either: CouchDB before version 3 makes such a database
/// public, this service does not.
/// Source: CouchDB, "/{db}/_security".
package struct SecurityDocument: Sendable, Equatable {
  /// The most names or roles in one list.
  package static let maximumNames = 500

  /// The object as it was sent, without white space.
  let bytes: [UInt8]
  /// `admins.names`: the users who may also write design documents, purge and compact.
  package let administrators: [String]
  /// `members.names`: the users who may read and write.
  package let members: [String]

  /// The object of a database for which none was set: CouchDB 3's default.
  package static let standard = SecurityDocument(
    bytes: Array(#"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#.utf8),
    administrators: [], members: [])
}

extension SecurityDocument {
  /// Reads an object. Unknown members are kept.
  /// - Throws: 400 `bad_request` for a value that does not have CouchDB's form; 413 for a list longer than
  ///   ``maximumNames``.
  package init(_ node: JSONNode) throws {
    guard node.kind == .object else {
      throw ServiceError.badRequest("Security must be a JSON object")
    }
    administrators = try Self.names("admins", in: node)
    // CouchDB's name before version 1.3.
    members = try Self.names(node["members"] == nil ? "readers" : "members", in: node)
    bytes = node.minified
  }

  /// Checks one of the two objects.
  /// - Returns: its names.
  private static func names(_ group: String, in node: JSONNode) throws -> [String] {
    guard let object = node[group] else { return [] }
    guard object.kind == .object else {
      throw ServiceError.badRequest("\(group) must be a JSON object")
    }
    _ = try texts("roles", in: object)
    return try texts("names", in: object)
  }

  private static func texts(_ list: String, in object: JSONNode) throws -> [String] {
    guard let node = object[list] else { return [] }
    let notTexts = ServiceError.badRequest("\(list) must be a JSON list of strings")
    guard node.kind == .array else { throw notTexts }
    guard node.count <= maximumNames else {
      throw ServiceError.tooLarge("\(list) has at most \(maximumNames) entries")
    }
    return try node.elements.map { element in
      guard let text = element.string else { throw notTexts }
      return text
    }
  }
}

extension CouchDatabase {
  /// Checks that the administrator's request has just made the database. It has CouchDB 3's default security, which
  /// admits no one else. When several requests make the same database at once, only one succeeds.
  /// - Throws: 412 `file_exists` when the database has been made before.
  package func requireNew() throws {
    guard store.takeCreation() else { throw ServiceError.databaseExists }
  }

  /// `GET /{db}/_security`: the users who may use the database; CouchDB 3's default when none were set. A user's own
  /// store also has this default, but belongs to its user whatever the object says.
  ///
  /// Source: CouchDB, "GET /{db}/_security".
  package func security() async throws -> CouchAnswer {
    CouchAnswer(try await SecurityDocument.stored(in: store).bytes)
  }

  /// `PUT /{db}/_security`: sets the users who may use the database, from the next request on.
  ///
  /// Source: CouchDB, "PUT /{db}/_security".
  package func setSecurity(_ security: SecurityDocument) async throws -> CouchAnswer {
    try await updating { changes in
      let revision = try changes.local(SecurityDocument.id)?.revision ?? 0
      let local = LocalDocument(revision: revision &+ 1, body: security.bytes)
      changes.write(LocalEdit(SecurityDocument.id, local))
    }
    return CouchAnswer(Array(#"{"ok":true}"#.utf8))
  }
}

extension SecurityDocument {
  /// The local document of the service in which a store keeps the object. No client can name it, and it is not
  /// replicated.
  static let id = LocalID(receipt: "security")

  /// The security object of a store; ``standard`` when none was set.
  /// - Throws: 500 `integrity_error` for an object that can't be read, so that it admits no one.
  package static func stored(in store: DocumentStore) async throws -> SecurityDocument {
    let local = try await store.read { view in try view.local(id) }
    guard let local else { return .standard }
    guard let root = try? ParsedJSON(local.body, limits: .small).root,
      let security = try? SecurityDocument(root)
    else { throw ServiceError(.integrity, "The database's security can't be read.") }
    return security
  }
}
