package import Documents

/// A local document that a client sends.
package struct LocalWrite: Sendable {
  /// How often the writer saw it written; nil when it believes it absent.
  let base: Int64?
  /// Whether it is to be removed.
  let isDeleted: Bool
  /// What it says.
  let body: DocumentBody

  /// Reads a body. `_revisions`, which CouchDB's replicator sends along, has no meaning here.
  /// - Throws: 400 for fields that contradict the request; 413; 415 for attachments.
  package init(_ node: JSONNode, for id: LocalID) throws(CouchError) {
    guard node.kind == .object else { throw .badRequest("Document must be a JSON object") }
    for member in node.members where member.nameStartsWithUnderscore {
      try Self.check(member, id)
    }
    base = try node["_rev"]?.string.map { text throws(CouchError) in try LocalRevision.read(text) }
    isDeleted = node["_deleted"]?.bool ?? false
    do { body = try DocumentBody(node) } catch { throw CouchError(error) }
    guard body.bytes.count <= CouchLimits.documentBytes else {
      throw CouchError(
        413, "document_too_large",
        "Document is too large: at most \(CouchLimits.documentBytes) bytes")
    }
  }

  private static func check(_ member: JSONMember, _ id: LocalID) throws(CouchError) {
    switch member.name {
    case "_revisions": return
    case "_id":
      guard member.value.stringEquals(id.text) else {
        throw invalid("Document's _id differs from the id of the request")
      }
    case "_rev":
      guard member.value.kind == .string else { throw .badRequest("Invalid rev format") }
    case "_deleted":
      guard member.value.bool != nil else { throw invalid("_deleted must be true or false") }
    case "_attachments":
      throw CouchError(415, "bad_content_type", "Attachments are not supported")
    case let name:
      throw invalid("Bad special document member: \(name.prefix(64))")
    }
  }

  private static func invalid(_ reason: String) -> CouchError {
    CouchError(400, "doc_validation", reason)
  }
}
