package import Documents
package import JSON
package import Stores

/// One document that is to be written, checked as far as it can be without the store.
package struct DocumentWrite: Sendable {
  /// How the revision comes about.
  enum Kind: Sendable {
    /// Here, below the revision that the writer saw.
    case edit(base: RevisionID?)
    /// It has been made elsewhere; its history, newest first.
    case replicated([RevisionID])
  }

  /// Which document.
  package let id: DocumentID
  /// How its revision comes about.
  let kind: Kind
  /// Whether the revision was made elsewhere.
  var isReplicated: Bool { if case .replicated = kind { true } else { false } }
  /// Whether the revision is a tombstone.
  let isDeleted: Bool
  /// What the revision says.
  let body: DocumentBody

  /// A document from a request.
  /// - Parameter base: the revision that the writer saw, where it is given beside the document.
  /// - Parameter limits: those of the database.
  /// - Throws: ``DocumentError`` with code `tooLarge`; `invalidRevision` for a replicated document without
  ///   `_rev`.
  init(
    _ document: IncomingDocument, id: DocumentID, base: RevisionID?, isNewEdit: Bool,
    limits: DocumentLimits
  ) throws {
    guard document.body.bytes.count <= limits.bytes else {
      throw DocumentError(.tooLarge, "Document is too large: at most \(limits.bytes) bytes")
    }
    self.id = id
    isDeleted = document.isDeleted
    body = document.body
    if isNewEdit {
      kind = .edit(base: base ?? document.revision)
    } else {
      guard let revision = document.revision ?? base else {
        throw DocumentError(
          .invalidRevision,
          "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
      }
      kind = .replicated(document.history ?? [revision])
    }
  }

  /// What the write does to the store, and the revision that it leads to; no mutation where the revision
  /// and its ancestors are known.
  /// - Throws: ``DocumentError`` for what the document rules refuse.
  func decided(
    in view: any StoreView, limit: HistoryLimits
  ) throws -> (revision: RevisionID?, mutation: Mutation?) {
    let marks = try PurgeMarks(view)
    var edits = try DocumentEdits(
      of: id, in: view, marks, limit: limit, isReplicated: isReplicated)
    let revision = try apply(to: &edits, in: view, marks)
    return (revision, edits.finish())
  }

  /// Adds the write to the edits of its document.
  /// - Parameter marks: what the store knows of purged revisions.
  /// - Returns: the revision that it leads to.
  /// - Throws: ``DocumentError`` for what the document rules refuse; the edits stay as they were.
  func apply(
    to edits: inout DocumentEdits, in view: any StoreView, _ marks: PurgeMarks
  ) throws -> RevisionID? {
    switch kind {
    case .edit(let base):
      return try edits.write(base: base, body: body, isDeleted: isDeleted)
    case .replicated(let history):
      // What was purged is known, though nothing is left of it.
      if !marks.isEmpty, let revision = history.first, edits.tree[revision] == nil,
        try marks.of(id).knows(revision)
      {
        return revision
      }
      let known = try history.first.flatMap { revision in
        try stored(revision, edits, in: view)
      }
      return try edits.insert(history, body: body, isDeleted: isDeleted, known: known)
    }
  }

  /// What a revision says that is known already.
  private func stored(
    _ revision: RevisionID, _ edits: DocumentEdits, in view: any StoreView
  ) throws -> DocumentBody? {
    if let body = edits.body(of: revision) { return body }
    guard edits.tree[revision] != nil, let bytes = try view.body(id, revision) else { return nil }
    return try DocumentBody(parsing: bytes, limits: .stored)
  }
}

extension DocumentEdits {
  /// Puts a new revision on the document as a client's write does: what is deleted begins again without a revision,
  /// and nothing else goes on from its tombstone.
  /// - Throws: `conflict` besides, where CouchDB has one.
  mutating func write(
    base: RevisionID?, body: DocumentBody, isDeleted: Bool
  ) throws -> RevisionID {
    if tree.winner?.isDeleted ?? false, base != nil || isDeleted { throw DocumentError.conflict }
    return try put(base: base, body: body, isDeleted: isDeleted)
  }
}

extension DocumentEdits {
  /// No edits yet of a document as a store has it.
  /// - Parameter isReplicated: whether peers' revisions may be among them, which need the whole history.
  init(
    of id: DocumentID, in view: any StoreView, _ marks: PurgeMarks, limit: HistoryLimits,
    isReplicated: Bool
  ) throws {
    let tree = isReplicated ? try view.tree(id) : try view.newest(id)
    self.init(id, in: tree, after: try marks.former(id, tree), limit: limit)
  }
}

/// The revision that a writer saw, which a request can name in three places.
package struct BaseRevision: Sendable {
  /// The revision, if any place names one.
  package let revision: RevisionID?

  /// Takes what the places say.
  /// - Parameter query: the parameter `rev`.
  /// - Parameter ifMatch: the header `If-Match`, in quotation marks or without.
  /// - Throws: 400 `bad_request` when one is malformed or they differ.
  package init(query: String?, ifMatch: String?) throws {
    let first = try query.map { text in try Self.read(Substring(text)) }
    let second = try ifMatch.map { text in
      try Self.read(Self.unquoted(text))
    }
    if let first, let second, first != second {
      throw ServiceError.badRequest("Document rev and etag have different values")
    }
    revision = first ?? second
  }

  /// The revision, agreed upon with the document's own `_rev`.
  /// - Throws: 400 `bad_request` when they differ.
  func agreed(with own: RevisionID?) throws -> RevisionID? {
    if let own, let revision, own != revision {
      throw ServiceError.badRequest(
        "Document rev from request body and query string have different values")
    }
    return own ?? revision
  }

  private static func read(_ text: Substring) throws -> RevisionID {
    return try RevisionID(String(text))
  }

  private static func unquoted(_ text: String) -> Substring {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return Substring(text) }
    return Substring(bytes.dropFirst().dropLast())
  }
}

extension BaseRevision {
  /// No place names a revision.
  package static let none = BaseRevision()

  private init() { revision = nil }
}

/// What a database lets its writer do beyond what documents allow: this service's own `validate_doc_update`. Local
/// documents are not asked for, as in CouchDB: a reader's device keeps its checkpoints.
package struct WriteRule: Sendable {
  /// One revision that somebody wants to write.
  package struct Revision: Sendable {
    /// Which document.
    package let id: DocumentID
    /// The revision that it goes on from; nil for none.
    package let parent: RevisionID?
    /// What it says.
    package let body: DocumentBody
    /// Whether it is a tombstone.
    package let isDeleted: Bool
  }

  /// Refuses by the id alone, before anything is read; nil to go on.
  let refusal: @Sendable (DocumentID) -> ServiceError?
  /// Refuses by what the revision says; nil to let it in.
  let refusalOfRevision: @Sendable (Revision, any StoreView) throws -> ServiceError?

  /// A rule in two steps.
  package init(
    refusal: @escaping @Sendable (DocumentID) -> ServiceError?,
    refusalOfRevision: @escaping @Sendable (Revision, any StoreView) throws -> ServiceError?
  ) {
    self.refusal = refusal
    self.refusalOfRevision = refusalOfRevision
  }

  /// Everything is let in.
  package static let none = WriteRule(refusal: { _ in nil }, refusalOfRevision: { _, _ in nil })

  /// Looks at what an update has recorded.
  /// - Throws: the refusal.
  func check(_ changes: StoreChanges) throws {
    for mutation in changes.mutations {
      guard let node = mutation.tree[mutation.revision], let body = mutation.body else { continue }
      let revision = Revision(
        id: mutation.id, parent: node.parent.map { mutation.tree.nodes[$0].revision }, body: body,
        isDeleted: node.isDeleted)
      if let refusal = try refusalOfRevision(revision, changes.view) { throw refusal }
    }
  }

  /// Looks at one document of several.
  /// - Returns: why it is not let in; nil where it is.
  func refusal(of write: DocumentWrite, in view: any StoreView) throws -> ServiceError? {
    let parent: RevisionID? =
      switch write.kind {
      case .edit(let base): base
      case .replicated(let history): history.dropFirst().first
      }
    return try refusalOfRevision(
      Revision(id: write.id, parent: parent, body: write.body, isDeleted: write.isDeleted), view)
  }
}

/// A local document that a client sends.
package struct LocalWrite: Sendable {
  /// How often the writer saw it written; nil when it believes it absent.
  let base: Int64?
  /// Whether it is to be removed.
  let isDeleted: Bool
  /// What it says.
  let body: DocumentBody

  /// Reads a body. Its `_id` counts only where no path names the document; `_revisions`, which CouchDB's replicator
  /// sends along, has no meaning here.
  /// - Throws: 400 for fields that make no document; 413; 415 for attachments.
  package init(
    _ node: JSONNode, limits: DocumentLimits = .standard
  ) throws {
    guard node.kind == .object else {
      throw ServiceError.badRequest("Document must be a JSON object")
    }
    for member in node.members where member.nameStartsWithUnderscore { try Self.check(member) }
    base = try node["_rev"]?.string.map { text in try LocalRevision.read(text) }
    isDeleted = node["_deleted"]?.bool ?? false
    body = try DocumentBody(node)
    guard body.bytes.count <= limits.bytes else {
      throw ServiceError(.documentTooLarge, "Document is too large: at most \(limits.bytes) bytes")
    }
  }

  /// What the write leaves: the revision that was sent and one more, whatever is stored. CouchDB 3 looks for no
  /// conflict here: only one replicator writes a checkpoint, and one that was lost is to be written again.
  var stored: LocalDocument? {
    isDeleted ? nil : LocalDocument(revision: (base ?? 0) &+ 1, body: body.bytes)
  }

  private static func check(_ member: JSONMember) throws {
    switch member.name {
    case "_id":
      guard member.value.kind == .string else {
        throw ServiceError(.invalidID, "Document id must be a string")
      }
    case "_rev":
      guard member.value.kind == .string else {
        throw ServiceError.badRequest("Invalid rev format")
      }
    case "_deleted":
      guard member.value.bool != nil else { throw invalid("_deleted") }
    case "_attachments":
      throw ServiceError(.attachmentsUnsupported, "Attachments are not supported")
    case let name:
      guard IncomingDocument.takes(name) else { throw invalid(name) }
    }
  }

  private static func invalid(_ name: String) -> ServiceError {
    ServiceError(.invalidDocument, "Bad special document member: \(name.prefix(64))")
  }
}

extension LocalID {
  /// The id of a local document in a request that names it in the document; nil for one that is replicated.
  /// - Throws: 400 for one that is none.
  init?(of node: JSONNode) throws {
    guard let text = node["_id"]?.string, text.utf8.starts(with: Self.clientPrefix.utf8) else {
      return nil
    }
    try self.init(client: text)
  }
}

/// A local document's revision, `0-N`: how often it was written; `0-0` of one that was removed.
///
/// Source: CouchDB, "Local (non-replicating) documents".
enum LocalRevision {
  /// The revision as clients see it.
  static func text(_ count: Int64) -> String { "0-\(count)" }

  /// The revision as an entity tag.
  static func tag(_ count: Int64) -> RevisionID {
    RevisionID(generation: 0, digest: String(count))
  }

  /// Reads `0-N`.
  /// - Throws: 400 `bad_request`.
  static func read(_ text: String) throws -> Int64 {
    let bytes = text.utf8
    let digits = bytes.dropFirst(2)
    guard bytes.starts(with: "0-".utf8), (1...18).contains(digits.count),
      digits.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(Substring(digits))
    else { throw ServiceError.badRequest("Invalid rev format") }
    return count
  }
}

extension LocalDocument {
  /// Writes the document as JSON, with its `_id` and `_rev`.
  func append(as id: LocalID, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("_id", id.text)
    writer.member("_rev", LocalRevision.text(revision))
    writer.members(of: body)
    writer.endObject()
  }
}
