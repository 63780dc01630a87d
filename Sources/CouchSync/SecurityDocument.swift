import Documents
package import JSON
package import Stores

/// Who may use a database that the administrator made: CouchDB's security object.
///
/// Names of users count. Roles are kept and give nobody anything, since nobody has any but the
/// administrator, who needs none. An empty list of members gives nobody anything either: what is public in
/// CouchDB before version 3 is not public here.
/// Source: CouchDB, "/{db}/_security".
package struct SecurityDocument: Sendable, Equatable {
  /// Names or roles in one list at most.
  package static let maximumNames = 500

  /// The object as it was put, without white space.
  let bytes: [UInt8]
  /// `admins.names`: who may also write design documents, purge and compact.
  package let administrators: [String]
  /// `members.names`: who may read and write.
  package let members: [String]

  /// What a database has that was given none: CouchDB 3's default.
  package static let standard = SecurityDocument(
    bytes: Array(#"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#.utf8),
    administrators: [], members: [])

  /// Reads an object. Members that are not known are kept.
  /// - Throws: 400 `bad_request` for what has not CouchDB's shape; 413 for a list longer than
  ///   ``maximumNames``.
  package init(_ node: JSONNode) throws {
    guard node.kind == .object else {
      throw ServiceError.badRequest("Security must be a JSON object")
    }
    administrators = try Self.names("admins", in: node)
    members = try Self.names("members", in: node)
    bytes = node.minified
  }

  private init(bytes: [UInt8], administrators: [String], members: [String]) {
    self.bytes = bytes
    self.administrators = administrators
    self.members = members
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
    guard node.kind == .array else { throw notTexts(list) }
    guard node.count <= maximumNames else {
      throw ServiceError.tooLarge("\(list) has at most \(maximumNames) entries")
    }
    var texts: [String] = []
    for element in node.elements {
      guard let text = element.string else { throw notTexts(list) }
      texts.append(text)
    }
    return texts
  }

  private static func notTexts(_ list: String) -> ServiceError {
    .badRequest("\(list) must be a JSON list of strings")
  }
}

extension CouchDatabase {
  /// Begins a database that the administrator makes: with CouchDB 3's security, which lets nobody else in.
  /// That object stands for the making, so that of several who make it at once one has made it.
  /// - Throws: 412 `file_exists` when it was begun before.
  package func begin() async throws {
    try await updating { changes in
      guard try changes.local(SecurityDocument.id) == nil else {
        throw ServiceError.databaseExists
      }
      let local = LocalDocument(revision: 1, body: SecurityDocument.standard.bytes)
      changes.write(LocalEdit(SecurityDocument.id, local))
    }
  }

  /// `GET /{db}/_security`: who may use the database; CouchDB 3's default where nobody has said, as for
  /// everybody's own store, which is its owner's whatever this says.
  ///
  /// Source: CouchDB, "GET /{db}/_security".
  package func security() async throws -> CouchAnswer {
    CouchAnswer(try await SecurityDocument.stored(in: store).bytes)
  }

  /// `PUT /{db}/_security`: says who may use the database, from the next request on.
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
  /// Where a store keeps it: a note of the service's own, which no client can name and nobody replicates.
  static let id = LocalID(receipt: "security")

  /// A store's own; ``standard`` where nobody has said.
  /// - Throws: 500 `integrity_error` for one that can't be read, so that nobody gets in by it.
  package static func stored(in store: DocumentStore) async throws -> SecurityDocument {
    let local = try await store.read { view in try view.local(id) }
    guard let local else { return .standard }
    guard let root = try? ParsedJSON(local.body, limits: .small).root,
      let security = try? SecurityDocument(root)
    else { throw ServiceError(.integrity, "The database's security can't be read.") }
    return security
  }
}
