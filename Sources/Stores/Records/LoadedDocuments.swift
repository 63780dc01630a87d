package import Documents

/// The stored documents that an update may change. Each is read once, for the rule, the quota and the writer.
///
/// The values stay correct until the update is written, because nothing else is written meanwhile and a rule
/// changes each document only once. Only the update that made the object uses it.
package final class LoadedDocuments {
  /// A document with the content of its row.
  package final class Found {
    /// The columns before body and tree.
    package let row: StoredDocument
    /// The winner's body, not verified, in the form in which other bodies are stored.
    package let content: StoredBody
    /// The winner's body, not verified.
    package var body: [UInt8] { content.bytes }
    /// Empty when the tree was given.
    private let encodedTree: [UInt8]
    private var decodedTree: RevisionTree?
    /// The complete history, when an engine has put it together.
    package var wholeTree: RevisionTree?
    /// The pieces of the history, when an engine has read them. Not verified.
    package var knownPieces: [StoredPiece]?

    /// Creates a document that was read.
    /// - Parameter encodedTree: not used when there is only one revision.
    package init(row: StoredDocument, body: StoredBody, encodedTree: [UInt8]) {
      self.row = row
      content = body
      self.encodedTree = encodedTree
    }

    /// Creates a document that was written.
    /// - Parameter tree: the history without the revisions that are stored separately.
    package init(row: StoredDocument, body: StoredBody, tree: RevisionTree) {
      self.row = row
      content = body
      encodedTree = []
      decodedTree = tree
    }

    /// The history without the revisions that are stored separately.
    /// - Throws: `integrity` when it differs from what was written.
    package func tree() throws -> RevisionTree {
      if let decodedTree { return decodedTree }
      let tree = try row.tree(encodedTree)
      decodedTree = tree
      return tree
    }
  }

  private let read: (DocumentID) throws -> Found?
  private let ids: Set<DocumentID>?
  private var known: [DocumentID: Found?]

  /// Creates a collection for an update. No document is read yet.
  /// - Parameters:
  ///   - ids: the documents that the update loads; nil for any.
  ///   - read: reads a document from its row; nil when the id was never used.
  package init(_ ids: Set<DocumentID>? = nil, read: @escaping (DocumentID) throws -> Found?) {
    self.ids = ids
    self.read = read
    known = Dictionary(minimumCapacity: ids?.count ?? 1)
  }

  /// A document, `.some(nil)` when its id was never used; nil when it is not one of those that the update loads: read
  /// it in the usual way.
  /// - Throws: `integrity` when columns differ from what was written.
  package func loaded(_ id: DocumentID) throws -> Found?? {
    if let known = known[id] { return known }
    guard ids?.contains(id) ?? true else { return nil }
    let document = try read(id)
    known[id] = .some(document)
    return .some(document)
  }

  /// A document that a rule changes; nil when the id was never used.
  /// - Throws: the errors of ``loaded(_:)``.
  package func document(_ id: DocumentID) throws -> Found? {
    if let known = try loaded(id) { return known }
    return try read(id)
  }
}
