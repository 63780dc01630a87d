package import Documents
package import Stores

/// Parses the bodies of requests.
package enum CouchBody {
  /// Parses a body.
  /// - Throws: 400 or 413; see ``ServiceError/init(_:)-(JSONError)``.
  package static func parse(_ bytes: [UInt8], limits: JSONLimits) throws -> JSONNode {
    return try ParsedJSON(bytes, limits: limits).root
  }

  /// Parses a body that must be an object.
  /// - Throws: the errors of ``parse(_:limits:)``; 400 `bad_request` for any other value.
  package static func object(
    _ bytes: [UInt8], limits: JSONLimits = CouchLimits.bulk
  ) throws -> JSONNode {
    let node = try parse(bytes, limits: limits)
    guard node.kind == .object else { throw noObject }
    return node
  }

  package static let noObject = ServiceError.badRequest("Request body must be a JSON object")

  /// The elements of the body's array `docs`.
  /// - Throws: 400 `bad_request` when there is none; 413 when it has more than ``CouchLimits/bulkDocuments``.
  static func documents(in body: JSONNode) throws -> JSONElements {
    guard let documents = body["docs"], documents.kind == .array else {
      throw ServiceError.badRequest("Missing JSON list of 'docs'.")
    }
    guard documents.count <= CouchLimits.bulkDocuments else {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.bulkDocuments) documents")
    }
    return documents.elements
  }
}
