/// A document as a client sent it: the reserved fields read and checked, the rest as its body.
///
/// Source: CouchDB, "Documents: special fields".
package struct IncomingDocument: Sendable {
  /// `_id`, when given.
  package let id: DocumentID?
  /// `_rev`, when given.
  package let revision: RevisionID?
  /// `_deleted`.
  package let isDeleted: Bool
  /// `_revisions` as ids, newest first; nil when not given.
  package let history: [RevisionID]?
  /// Everything else.
  package let body: DocumentBody

  /// Reads a parsed object.
  /// - Throws: ``DocumentError`` with code `invalidDocument`, `invalidID`, `invalidRevision` or
  ///   `attachmentsUnsupported`.
  package init(_ node: JSONNode) throws(DocumentError) {
    guard node.kind == .object else {
      throw DocumentError(.invalidDocument, "Document must be a JSON object")
    }
    var fields: (id: JSONNode?, revision: JSONNode?, history: JSONNode?)
    var isDeleted = false
    for member in node.members where member.nameStartsWithUnderscore {
      let (name, value) = (member.name, member.value)
      switch name {
      case "_id": fields.id = value
      case "_rev": fields.revision = value
      case "_revisions": fields.history = value
      case "_deleted": isDeleted = try Self.flag(value)
      default: try Self.check(name, value)
      }
    }
    self.isDeleted = isDeleted
    id = try Self.text(fields.id, "_id").map { text throws(DocumentError) in
      try DocumentID(text)
    }
    revision = try Self.text(fields.revision, "_rev").map { text throws(DocumentError) in
      try RevisionID(text)
    }
    history = try fields.history.map { node throws(DocumentError) in try Self.history(node) }
    if let revision, let newest = history?.first, newest != revision {
      throw DocumentError(.invalidDocument, "_revisions must start with _rev")
    }
    body = try DocumentBody(node)
  }

  /// Fields that CouchDB writes into answers and ignores when they come back.
  private static let ignored = [
    "_revs_info", "_conflicts", "_deleted_conflicts", "_local_seq",
  ]

  private static func check(_ name: String, _ value: JSONNode) throws(DocumentError) {
    guard name != "_attachments" else {
      guard value.kind == .object, value.count == 0 else {
        throw DocumentError(.attachmentsUnsupported, "Attachments are not supported")
      }
      return
    }
    guard ignored.contains(name) else {
      throw DocumentError(.invalidDocument, "Bad special document member: \(name.prefix(64))")
    }
  }

  private static func flag(_ value: JSONNode) throws(DocumentError) -> Bool {
    guard let flag = value.bool else {
      throw DocumentError(.invalidDocument, "_deleted must be true or false")
    }
    return flag
  }

  private static func text(
    _ node: JSONNode?, _ name: String
  ) throws(DocumentError) -> String? {
    guard let node else { return nil }
    guard let text = node.string else {
      throw DocumentError(
        name == "_id" ? .invalidID : .invalidRevision, "\(name) must be a string")
    }
    return text
  }

  private static func history(_ node: JSONNode) throws(DocumentError) -> [RevisionID] {
    guard let start = node["start"]?.int, let ids = node["ids"], ids.kind == .array else {
      throw DocumentError(.invalidDocument, "_revisions needs start, a number, and ids, an array")
    }
    guard start >= ids.count, ids.count > 0, start <= RevisionID.maximumGeneration else {
      throw DocumentError(.invalidDocument, "_revisions.start must be at least the number of ids")
    }
    var history: [RevisionID] = []
    for (place, id) in ids.elements.enumerated() where place < RevisionTree.defaultRevisionLimit {
      guard let text = id.string else {
        throw DocumentError(.invalidRevision, "_revisions.ids must be strings")
      }
      let digest = try RevisionID.checkedDigest(text)
      history.append(RevisionID(generation: start - place, digest: digest))
    }
    return history
  }
}
