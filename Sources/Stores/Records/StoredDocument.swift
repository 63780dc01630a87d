package import Documents

/// The columns of a document's row before body and tree.
package struct StoredDocument: Sendable {
  /// The sequence number of the last change; it is the key of the row.
  package var sequence: Int64
  package var id: DocumentID
  /// The sequence number of the document's first change; it is the document's key in the table of bodies.
  package var first: Int64
  /// The winner.
  package var revision: RevisionID
  package var isDeleted: Bool
  /// The winner's `type`.
  package var type: String?
  /// When the document was created, or restored after a tombstone, in milliseconds.
  package var created: Int64
  /// When the document last changed, in milliseconds.
  package var updated: Int64
  /// The checksum of the winner's body.
  package var bodyChecksum: Int64
  /// The checksum of the tree; nil when the row has no tree, because there is only one revision.
  package var treeChecksum: Int64?

  package init(
    sequence: Int64, id: DocumentID, first: Int64, revision: RevisionID, isDeleted: Bool,
    type: String?, created: Int64, updated: Int64, bodyChecksum: Int64, treeChecksum: Int64? = nil
  ) {
    self.sequence = sequence
    self.id = id
    self.first = first
    self.revision = revision
    self.isDeleted = isDeleted
    self.type = type
    self.created = created
    self.updated = updated
    self.bodyChecksum = bodyChecksum
    self.treeChecksum = treeChecksum
  }

  package var checksum: Checksum {
    var checksum = Checksum(.head)
    checksum.append(sequence)
    checksum.append(id.text)
    checksum.append(first)
    checksum.append(revision)
    checksum.append(isDeleted ? 1 : 0)
    checksum.append(type)
    checksum.append(created)
    checksum.append(updated)
    checksum.append(bodyChecksum)
    checksum.append(treeChecksum)
    return checksum
  }

  /// The change that the row records.
  package var change: Change {
    Change(sequence: sequence, id: id, revision: revision, isDeleted: isDeleted)
  }

  /// The document with its body.
  /// - Throws: `integrity` when the body differs from what was written.
  package func document(_ body: [UInt8]) throws -> Document {
    guard Checksum.body(id, revision, body).matches(bodyChecksum) else {
      throw ServiceError.integrity("the body of change \(sequence) fails its checksum")
    }
    return Document(
      id: id, revision: revision, isDeleted: isDeleted, sequence: sequence,
      created: Timestamp(milliseconds: created), updated: Timestamp(milliseconds: updated),
      body: body)
  }

  /// Checks the body of a revision that is not the winner.
  /// - Throws: `integrity` when the body differs from what was written.
  package func verify(_ body: [UInt8], of revision: RevisionID, _ checksum: Int64) throws {
    guard Checksum.body(id, revision, body).matches(checksum) else {
      throw ServiceError.integrity("a stored body of change \(sequence) fails its checksum")
    }
  }

  /// Checks that a missing body was removed by compaction and is not lost.
  ///
  /// A body is lost when its revision is a leaf, or when a stored body of the same generation belongs to no revision of
  /// the tree.
  /// - Parameter digests: reads the digests of a document's stored bodies of one generation.
  /// - Throws: `integrity` for a lost body.
  package func requireCompacted(
    _ node: RevisionTree.Node, _ tree: RevisionTree,
    _ digests: (_ first: Int64, _ generation: Int) throws -> [String]
  ) throws {
    guard !node.isLeaf else {
      throw ServiceError.integrity("the body of a leaf of change \(sequence) is missing")
    }
    // A digest with a damaged bit belongs to no revision of the tree. Its row may be the missing one.
    let generation = node.revision.generation
    let stored = try digests(first, generation)
      .map { RevisionID(generation: generation, digest: $0) }
    guard tree.indices(of: stored).count == Set(stored).count else {
      throw ServiceError.integrity("a stored body of change \(sequence) is no revision's")
    }
  }

  /// The history without the revisions that are stored separately.
  /// - Parameter encoded: the row's tree; not used when the row has no tree.
  /// - Throws: `integrity` when the tree differs from what was written.
  package func tree(_ encoded: [UInt8]) throws -> RevisionTree {
    guard let treeChecksum else {
      var tree = RevisionTree()
      _ = try tree.insert(revision, below: nil, isDeleted: isDeleted)
      return tree
    }
    guard Checksum.tree(id, revision, encoded).matches(treeChecksum) else {
      throw ServiceError.integrity("the tree of change \(sequence) fails its checksum")
    }
    do {
      return try encoded.withUnsafeBytes { bytes in try RevisionTree(decoding: bytes) }
    } catch { throw ServiceError(error) ?? .integrity("the tree of change \(sequence) is damaged") }
  }
}
