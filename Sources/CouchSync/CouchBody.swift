package import Documents

/// Reads requests' bodies.
package enum CouchBody {
  /// Parses a body.
  /// - Throws: 400 or 413, as ``CouchError/init(_:)-(JSONError)`` says.
  package static func parse(
    _ bytes: [UInt8], limits: JSONLimits
  ) throws(CouchError) -> JSONNode {
    do { return try ParsedJSON(bytes, limits: limits).root } catch { throw CouchError(error) }
  }

  /// Parses a body that is to be an object.
  /// - Throws: besides, 400 `bad_request` for any other value.
  package static func object(
    _ bytes: [UInt8], limits: JSONLimits = CouchLimits.bulk
  ) throws(CouchError) -> JSONNode {
    let node = try parse(bytes, limits: limits)
    guard node.kind == .object else { throw noObject }
    return node
  }

  /// The error of a body that is no object.
  package static let noObject = CouchError.badRequest("Request body must be a JSON object")

  /// The elements of a body's array.
  /// - Throws: 400 `bad_request` when there is none; 413 when it has more than
  ///   ``CouchLimits/bulkDocuments``.
  static func documents(in body: JSONNode) throws(CouchError) -> JSONElements {
    guard let documents = body["docs"], documents.kind == .array else {
      throw .badRequest("Missing JSON list of 'docs'.")
    }
    guard documents.count <= CouchLimits.bulkDocuments else {
      throw .tooLarge("A request has at most \(CouchLimits.bulkDocuments) documents")
    }
    return documents.elements
  }
}
