package import Documents
import JSON
import Stores

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
    var edits = try DocumentEdits(of: id, in: view, marks, limit: limit)
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
  init(
    of id: DocumentID, in view: any StoreView, _ marks: PurgeMarks, limit: HistoryLimits
  ) throws {
    let tree = try view.tree(id)
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
