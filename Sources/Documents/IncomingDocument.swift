/// A document that a client sent: its special fields, checked, and its body.
///
/// Source: CouchDB, "Documents: special fields".
package struct IncomingDocument: Sendable {
  /// The value of `_id`, if given.
  package let id: DocumentID?
  /// The first revision of `_revisions`, otherwise `_rev`; nil when neither is given. If the two differ,
  /// `_revisions` wins, as in CouchDB.
  package let revision: RevisionID?
  /// The value of `_deleted`; false when it is not given.
  package let isDeleted: Bool
  /// `_revisions` as ids, newest first; nil when not given.
  package let history: [RevisionID]?
  /// The value of `_attachments`; empty when it is not given.
  package let attachments: [IncomingAttachment]
  /// All other fields.
  package let body: DocumentBody
  /// The bytes of the longest string in the text with the document; 0 if all are short.
  package let longestString: Int

  /// Reads a parsed object.
  /// - Parameter body: its body if that has been read; see ``DocumentBodyReader``.
  /// - Parameter naming: how the names of its attachments are read.
  /// - Throws: ``DocumentError`` with code `invalidDocument`, `invalidID`, `invalidRevision` or
  ///   `invalidAttachment`.
  package init(
    _ node: JSONNode, read body: DocumentBody? = nil,
    naming: IncomingAttachment.Naming = AttachmentName.init(_:)
  ) throws(DocumentError) {
    guard node.kind == .object else {
      throw DocumentError(.invalidDocument, "Document must be a JSON object")
    }
    var fields: (id: JSONNode?, revision: JSONNode?, history: JSONNode?)
    var (isDeleted, attachments) = (false, [IncomingAttachment]())
    for member in node.members where member.nameStartsWithUnderscore {
      let (name, value) = (member.name, member.value)
      switch name {
      case "_id": fields.id = value
      case "_rev": fields.revision = value
      case "_revisions": fields.history = value
      case "_deleted": isDeleted = try Self.flag(value)
      case DocumentBody.attachmentsName:
        attachments = try IncomingAttachment.all(in: value, naming)
      default: guard Self.takes(name) else { throw Self.bad(name) }
      }
    }
    self.isDeleted = isDeleted
    id = try Self.text(fields.id, "_id").map { text throws(DocumentError) in
      try DocumentID(text)
    }
    let named = try Self.text(fields.revision, "_rev").map { text throws(DocumentError) in
      try RevisionID(text)
    }
    history = try fields.history.map { node throws(DocumentError) in try Self.history(node) }
    revision = history?.first ?? named
    self.attachments = attachments
    if let body { self.body = body } else { self.body = try DocumentBody(node, attachments: false) }
    longestString = node.longestStringOfText
  }

  /// Fields that CouchDB writes into answers and ignores in requests.
  private static let ignored = ["_revs_info", "_conflicts", "_deleted_conflicts", "_local_seq"]

  /// Whether a document may have a special member of this name, which starts with `_`. `_attachments` is
  /// checked elsewhere.
  package static func takes(_ name: String) -> Bool {
    ["_id", "_rev", "_revisions", "_deleted"].contains(name) || ignored.contains(name)
      || DocumentBody.reservedMembers.contains(name)
  }

  private static func bad(_ name: String) -> DocumentError {
    DocumentError(.invalidDocument, "Bad special document member: \(name.prefix(64))")
  }

  private static func flag(_ value: JSONNode) throws(DocumentError) -> Bool {
    guard let flag = value.bool else { throw bad("_deleted") }
    return flag
  }

  private static func text(_ node: JSONNode?, _ name: String) throws(DocumentError) -> String? {
    guard let node else { return nil }
    guard let text = node.string else {
      throw name == "_id"
        ? DocumentError(.invalidID, "Document id must be a string")
        : DocumentError(.invalidRevision, "Invalid rev format")
    }
    return text
  }

  private static func history(_ node: JSONNode) throws(DocumentError) -> [RevisionID] {
    guard node.kind == .object else { throw bad("_revisions") }
    let start = try start(node["start"])
    guard let ids = node["ids"], ids.kind == .array else {
      throw DocumentError(.invalidDocument, "_revisions.ids isn't a array.")
    }
    guard start >= ids.count, ids.count > 0 else {
      throw DocumentError(.invalidDocument, "_revisions.start must be at least the number of ids")
    }
    var history: [RevisionID] = []
    for (index, id) in ids.elements.enumerated() where index < HistoryLimits.standard.revisions {
      guard let text = id.string else {
        throw DocumentError(.invalidDocument, "RevId isn't a string")
      }
      let digest = try RevisionID.checkedDigest(text)
      history.append(RevisionID(generation: start - index, digest: digest))
    }
    return history
  }

  /// A generation that is too high to be stored is an invalid revision, not a malformed document: CouchDB accepts it.
  private static func start(_ node: JSONNode?) throws(DocumentError) -> Int {
    guard let text = node?.number?.text.utf8, text.dropFirst().allSatisfy(isDigit),
      text.first.map({ isDigit($0) || $0 == UInt8(ascii: "-") }) == true
    else { throw DocumentError(.invalidDocument, "_revisions.start isn't an integer.") }
    guard text.first == UInt8(ascii: "-") || (node?.int ?? .max) <= RevisionID.maximumGeneration
    else { throw DocumentError(.invalidRevision, "Invalid rev format") }
    return node?.int ?? 0
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
