package import Documents
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
  /// - Throws: ``DocumentError`` with code `tooLarge`; `invalidRevision` for a replicated document without
  ///   `_rev`.
  init(
    _ document: IncomingDocument, id: DocumentID, base: RevisionID?, isNewEdit: Bool
  ) throws(DocumentError) {
    guard document.body.bytes.count <= CouchLimits.documentBytes else {
      throw DocumentError(
        .tooLarge, "Document is too large: at most \(CouchLimits.documentBytes) bytes")
    }
    self.id = id
    isDeleted = document.isDeleted
    body = document.body
    if isNewEdit {
      kind = .edit(base: base ?? document.revision ?? document.history?.first)
    } else {
      guard let revision = document.revision ?? base else {
        throw DocumentError(.invalidRevision, "A document with new_edits=false needs a _rev")
      }
      let history = document.history ?? [revision]
      guard history.first == revision else {
        throw DocumentError(.invalidDocument, "_revisions must start with the document's revision")
      }
      kind = .replicated(history)
    }
  }

  /// What the write does to the store, and the revision that it leads to; no mutation where the revision
  /// and its ancestors are known.
  /// - Throws: `rejected` for what the document rules refuse.
  func decided(
    in view: any StoreView, limit: Int
  ) throws(StoreError) -> (revision: RevisionID?, mutation: Mutation?) {
    var edits = DocumentEdits(id, in: try view.tree(id), limit: limit)
    let revision = try apply(to: &edits, in: view)
    return (revision, edits.finish())
  }

  /// Adds the write to the edits of its document.
  /// - Returns: the revision that it leads to.
  /// - Throws: `rejected` for what the document rules refuse; the edits stay as they were.
  func apply(
    to edits: inout DocumentEdits, in view: any StoreView
  ) throws(StoreError) -> RevisionID? {
    switch kind {
    case .edit(let base):
      return try applying { () throws(DocumentError) in
        try edits.put(base: base, body: body, isDeleted: isDeleted)
      }
    case .replicated(let history):
      let known = try history.first.flatMap { revision throws(StoreError) in
        try stored(revision, edits, in: view)
      }
      return try applying { () throws(DocumentError) in
        try edits.insert(history, body: body, isDeleted: isDeleted, known: known)
      }
    }
  }

  /// What a revision says that is known already.
  private func stored(
    _ revision: RevisionID, _ edits: DocumentEdits, in view: any StoreView
  ) throws(StoreError) -> DocumentBody? {
    if let body = edits.body(of: revision) { return body }
    guard edits.tree[revision] != nil, let bytes = try view.body(id, revision) else { return nil }
    return try applying { () throws(DocumentError) in try DocumentBody(parsing: bytes) }
  }
}
