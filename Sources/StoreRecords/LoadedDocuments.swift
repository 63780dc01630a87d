package import Documents
import Stores

/// What an update finds of the documents that it may change: each is read once, for the rule, the quota and
/// the writer.
///
/// What was found holds until the update is written, because nothing else is written meanwhile and a
/// rule changes each document once. Confined, as the rows are, to the actor that owns them.
package final class LoadedDocuments {
  /// A document with all that stands in its row.
  package final class Found {
    /// The columns before body and tree.
    package let row: StoredDocument
    /// The winner's body, not verified, as it would stand beside another winner's.
    package let content: StoredBody
    /// The winner's body, not verified.
    package var body: [UInt8] { content.bytes }
    /// Empty where the tree is known.
    private let encodedTree: [UInt8]
    private var decodedTree: RevisionTree?
    /// The whole history, once an engine has put it together.
    package var wholeTree: RevisionTree?
    /// The pieces of the history, once an engine has read them. Not verified.
    package var knownPieces: [StoredPiece]?

    /// A document as it was read.
    /// - Parameter encodedTree: not looked at where there is one revision only.
    package init(row: StoredDocument, body: StoredBody, encodedTree: [UInt8]) {
      self.row = row
      content = body
      self.encodedTree = encodedTree
    }

    /// A document as it was written.
    /// - Parameter tree: without the revisions that are stored apart.
    package init(row: StoredDocument, body: StoredBody, tree: RevisionTree) {
      self.row = row
      content = body
      encodedTree = []
      decodedTree = tree
    }

    /// The history, without the revisions that are stored apart.
    /// - Throws: `integrity` when it is not what was written.
    package func tree() throws -> RevisionTree {
      if let decodedTree { return decodedTree }
      let tree = try row.tree(encodedTree)
      decodedTree = tree
      return tree
    }
  }

  /// What is known of an id.
  package enum Answer {
    /// The update may not change it: it is read like any other.
    case notLoaded
    /// It was never used.
    case absent
    /// The document.
    case found(Found)
  }

  private let read: (DocumentID) throws -> Found?
  private let ids: Set<DocumentID>
  private var known: [DocumentID: Found?]

  /// The documents of an update, none of them read yet.
  /// - Parameter read: reads one from its row; nil when the id was never used.
  package init(_ ids: Set<DocumentID>, read: @escaping (DocumentID) throws -> Found?) {
    self.ids = ids
    self.read = read
    known = Dictionary(minimumCapacity: ids.count)
  }

  /// A document, if it is one of these.
  /// - Throws: `integrity` for columns that were not written so.
  package func answer(for id: DocumentID) throws -> Answer {
    if let known = known[id] { return known.map { .found($0) } ?? .absent }
    guard ids.contains(id) else { return .notLoaded }
    let document = try read(id)
    known[id] = .some(document)
    return document.map { .found($0) } ?? .absent
  }

  /// The document that a rule changes; nil when the id was never used.
  /// - Throws: as ``answer(for:)`` does.
  package func document(_ id: DocumentID) throws -> Found? {
    switch try answer(for: id) {
    case .found(let document): document
    case .absent: nil
    case .notLoaded: try read(id)
    }
  }
}
