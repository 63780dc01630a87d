package import Documents
import Stores

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
  package init(_ node: JSONNode) throws(CouchError) {
    guard node.kind == .object else { throw .badRequest("Security must be a JSON object") }
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
  private static func names(_ group: String, in node: JSONNode) throws(CouchError) -> [String] {
    guard let object = node[group] else { return [] }
    guard object.kind == .object else { throw .badRequest("\(group) must be a JSON object") }
    _ = try texts("roles", in: object)
    return try texts("names", in: object)
  }

  private static func texts(_ list: String, in object: JSONNode) throws(CouchError) -> [String] {
    guard let node = object[list] else { return [] }
    guard node.kind == .array else { throw notTexts(list) }
    guard node.count <= maximumNames else {
      throw .tooLarge("\(list) has at most \(maximumNames) entries")
    }
    var texts: [String] = []
    for element in node.elements {
      guard let text = element.string else { throw notTexts(list) }
      texts.append(text)
    }
    return texts
  }

  private static func notTexts(_ list: String) -> CouchError {
    .badRequest("\(list) must be a JSON list of strings")
  }
}
