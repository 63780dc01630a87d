package import Documents

/// A view that reads documents from rows. What the rows of a document say about its revisions is the same in each engine.
package protocol RowView: StoreView {
  /// The documents that an update may change, as it has read them; nil outside updates.
  var loaded: LoadedDocuments? { get }
  /// Reads a document with body, tree and arrival; nil if there is none.
  func found(_ id: DocumentID) throws -> LoadedDocuments.Found?
  /// Reads a document's columns.
  func head(_ id: DocumentID) throws -> StoredDocument?
  /// Reads a document's columns, and its history without the pieces.
  func history(_ id: DocumentID) throws -> (row: StoredDocument, newest: RevisionTree)?
  /// The pieces of a document's history, the oldest first. Not verified.
  /// - Parameter first: the sequence number of the document's first change, as in the next functions.
  func pieces(of first: Int64) throws -> [StoredPiece]
  /// The body of a revision that is not the winner; nil when it is not stored. Not verified.
  func storedBody(of first: Int64, _ revision: RevisionID) throws -> StoredBody?
  /// The arrival of a revision that is not the winner; nil when its body is not stored.
  func arrival(of first: Int64, _ revision: RevisionID) throws -> StoredArrival?
  /// The digests of a document's stored bodies of one generation, without the winner's.
  func bodyDigests(of first: Int64, generation: Int) throws -> [String]
  /// The bytes of a document's stored bodies, without the winner's.
  func bodyBytes(of first: Int64) throws -> Int64
}

extension RowView {
  package func tree(_ id: DocumentID) throws -> RevisionTree? {
    if let known = try loaded?.loaded(id) { return try known?.whole(from: pieces) }
    guard let (row, newest) = try history(id) else { return nil }
    return try row.whole(newest) { try pieces(of: row.first) }
  }

  package func newest(_ id: DocumentID) throws -> RevisionTree? {
    if let known = try loaded?.loaded(id) { return try known?.tree() }
    return try history(id)?.newest
  }

  package func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]? {
    guard let found = try whole(id) else { return nil }
    guard found.row.revision != revision else { return try found.row.document(found.body).body }
    // A revision that is stored in a history piece is too old to have a body.
    guard let node = try found.tree()[revision] else { return nil }
    return try body(of: node, in: found.row, try found.tree())
  }

  package func body(
    _ id: DocumentID, of node: RevisionTree.Node, in tree: RevisionTree
  ) throws -> [UInt8]? {
    guard loaded == nil, let head = try head(id), head.revision != node.revision else {
      return try body(id, node.revision)
    }
    return try body(of: node, in: head, tree)
  }

  package func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision? {
    guard let found = try whole(id) else { return nil }
    let stored =
      found.row.revision == revision
      ? found.content.arrival : try arrival(of: found.row.first, revision)
    guard let stored else {
      if let node = try found.tree()[revision] {
        try found.row.requireCompacted(node, try found.tree(), bodyDigests)
      }
      return nil
    }
    return KeptRevision(arrival: try stored.arrival(of: revision, in: found.row))
  }

  package func storedBytes(of id: DocumentID) throws -> Int64 {
    guard let found = try whole(id) else { return 0 }
    return Int64(found.body.count) + (try bodyBytes(of: found.row.first))
  }

  private func whole(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    if let known = try loaded?.loaded(id) { return known }
    return try found(id)
  }

  private func body(
    of node: RevisionTree.Node, in row: StoredDocument, _ tree: RevisionTree
  ) throws -> [UInt8]? {
    guard let body = try storedBody(of: row.first, node.revision) else {
      try row.requireCompacted(node, tree, bodyDigests)
      return nil
    }
    try row.verify(body.bytes, of: node.revision, body.checksum)
    return body.bytes
  }
}
