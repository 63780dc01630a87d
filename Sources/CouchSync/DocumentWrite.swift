package import Documents
package import JSON
package import Stores

/// A document to write, checked as far as possible without the store.
package struct DocumentWrite: Sendable {
  /// How the revision is made.
  enum Kind: Sendable {
    /// Here, as a child of the revision that the writer saw.
    case edit(base: RevisionID?)
    /// Elsewhere; the value is its history, newest first.
    case replicated([RevisionID])
  }

  package let id: DocumentID
  let kind: Kind
  /// Whether the revision was made elsewhere.
  var isReplicated: Bool { if case .replicated = kind { true } else { false } }
  let isDeleted: Bool
  let body: DocumentBody

  /// Makes a write of a document from a request.
  /// - Parameter base: the revision that the writer saw, when the request contains it outside of the document.
  /// - Parameter limits: those of the database.
  /// - Throws: ``DocumentError`` with code `tooLarge`; `invalidRevision` for a replicated document without `_rev`.
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

  /// The revision that the write leads to, and its mutation of the store; no mutation when the revision and its
  /// ancestors are known.
  /// - Throws: ``DocumentError`` for a write that the document rules refuse.
  func decide(
    in view: any StoreView, limit: HistoryLimits
  ) throws -> (revision: RevisionID?, mutation: Mutation?) {
    let marks = try PurgeMarks(view)
    var edits = try DocumentEdits(
      of: id, in: view, marks, limit: limit, isReplicated: isReplicated)
    let revision = try apply(to: &edits, in: view, marks)
    return (revision, edits.finish())
  }

  /// Adds the write to the edits of its document.
  /// - Parameter marks: the purged revisions that the store remembers.
  /// - Returns: the revision that the write leads to.
  /// - Throws: ``DocumentError`` for a write that the document rules refuse; the edits stay unchanged.
  func apply(
    to edits: inout DocumentEdits, in view: any StoreView, _ marks: PurgeMarks
  ) throws -> RevisionID? {
    switch kind {
    case .edit(let base):
      return try edits.write(base: base, body: body, isDeleted: isDeleted)
    case .replicated(let history):
      // A purged revision counts as known.
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

  /// The body of a revision that is known already; nil when the revision is unknown or has no body.
  private func stored(
    _ revision: RevisionID, _ edits: DocumentEdits, in view: any StoreView
  ) throws -> DocumentBody? {
    if let body = edits.body(of: revision) { return body }
    guard edits.tree[revision] != nil, let bytes = try view.body(id, revision) else { return nil }
    return try DocumentBody(parsing: bytes, limits: .stored)
  }
}

extension DocumentEdits {
  /// Adds a new revision to the document, by the rules for a client's write: a deleted document can only be written
  /// again without a base revision; its tombstone can be neither the base of a revision nor deleted again.
  /// - Throws: the errors of `put(base:body:isDeleted:)`; `conflict` for a write to a deleted document with a base
  ///   revision, or of another tombstone, as in CouchDB.
  mutating func write(
    base: RevisionID?, body: DocumentBody, isDeleted: Bool
  ) throws -> RevisionID {
    if tree.winner?.isDeleted ?? false, base != nil || isDeleted { throw DocumentError.conflict }
    return try put(base: base, body: body, isDeleted: isDeleted)
  }
}

extension DocumentEdits {
  /// Makes empty edits of a document in a store.
  /// - Parameter isReplicated: whether peers' revisions may be among them, which need the whole history.
  init(
    of id: DocumentID, in view: any StoreView, _ marks: PurgeMarks, limit: HistoryLimits,
    isReplicated: Bool
  ) throws {
    let tree = isReplicated ? try view.tree(id) : try view.newest(id)
    self.init(id, in: tree, after: try marks.former(id, tree), limit: limit)
  }
}

/// The revision that a writer saw. A request can contain it three times.
package struct BaseRevision: Sendable {
  /// The revision; nil when the request contains none.
  package let revision: RevisionID?
  /// What to say when the document's own revision differs.
  private let difference: String

  /// Reads the revision from the query and the header.
  /// - Parameter query: the parameter `rev`.
  /// - Parameter ifMatch: the header `If-Match`, with or without quotation marks.
  /// - Throws: 400 `bad_request` when one is malformed or they differ.
  package init(query: String?, ifMatch: String?) throws {
    let first = try query.map { text in try Self.read(Substring(text)) }
    let second = try ifMatch.map { text in
      try Self.read(Self.unquoted(text))
    }
    if let first, let second, first != second {
      throw ServiceError.badRequest(Self.otherTag)
    }
    revision = first ?? second
    difference = first == nil ? Self.otherTag : Self.otherQuery
  }

  /// The revision, after comparing it with the document's own `_rev`.
  /// - Throws: 400 `bad_request` when they differ.
  func reconcile(with own: RevisionID?) throws -> RevisionID? {
    if let own, let revision, own != revision {
      throw ServiceError.badRequest(difference)
    }
    return own ?? revision
  }

  private static let otherTag = "Document rev and etag have different values"
  private static let otherQuery =
    "Document rev from request body and query string have different values"

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
  package static let none = BaseRevision()

  private init() { (revision, difference) = (nil, "") }
}

/// What a writer may write into a database, beyond the document rules: this service's own `validate_doc_update`. It is
/// not applied to local documents, as in CouchDB, so that a reader's device can store its checkpoints.
package struct WriteRule: Sendable {
  /// A revision that a client wants to write.
  package struct Revision: Sendable {
    package let id: DocumentID
    /// The parent of the revision; nil for none.
    package let parent: RevisionID?
    package let body: DocumentBody
    package let isDeleted: Bool
  }

  /// The error by the id alone, before anything is read; nil when the id is allowed.
  let refusal: @Sendable (DocumentID) -> ServiceError?
  /// The error by the content of the revision; nil when it is allowed.
  let refusalOfRevision: @Sendable (Revision, any StoreView) throws -> ServiceError?

  package init(
    refusal: @escaping @Sendable (DocumentID) -> ServiceError?,
    refusalOfRevision: @escaping @Sendable (Revision, any StoreView) throws -> ServiceError?
  ) {
    self.refusal = refusal
    self.refusalOfRevision = refusalOfRevision
  }

  /// The rule that allows everything.
  package static let none = WriteRule(refusal: { _ in nil }, refusalOfRevision: { _, _ in nil })

  /// Checks the changes that an update has recorded.
  /// - Throws: the first refusal.
  func check(_ changes: StoreChanges) throws {
    for mutation in changes.mutations {
      guard let node = mutation.tree[mutation.revision], let body = mutation.body else { continue }
      let revision = Revision(
        id: mutation.id, parent: node.parent.map { mutation.tree.nodes[$0].revision }, body: body,
        isDeleted: node.isDeleted)
      if let refusal = try refusalOfRevision(revision, changes.view) { throw refusal }
    }
  }

  /// Checks one document of several.
  /// - Returns: why it is refused; nil when it is allowed.
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
  /// The number of the revision that the writer saw; nil when the writer sent none.
  let base: Int64?
  let isDeleted: Bool
  let body: DocumentBody

  /// Reads a body. Its `_id` counts only when the path names no document; `_revisions`, which CouchDB's replicator also
  /// sends, is ignored.
  /// - Throws: 400 for invalid fields; 413; 415 for attachments.
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

  /// The document after the write: its revision is the sent one plus one, whatever is stored; nil when it is removed.
  /// CouchDB 3 does not check for conflicts here: only one replicator writes a checkpoint, and a lost checkpoint must
  /// be writable again.
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
  /// The id of a local document, when the body's `_id` names one; nil for a replicated document.
  /// - Throws: 400 for a malformed id.
  init?(of node: JSONNode) throws {
    guard let text = node["_id"]?.string, text.utf8.starts(with: Self.clientPrefix.utf8) else {
      return nil
    }
    try self.init(client: text)
  }
}

/// A local document's revision `0-N`: N is the number of its writes; `0-0` for a removed document.
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
