package import Documents
import Stores

/// The columns of a document's row before body and tree.
package struct StoredDocument {
  /// The number of the last change, the row's place.
  package var sequence: Int64
  /// The document's id.
  package var id: DocumentID
  /// The number of the document's first change: its name among the bodies.
  package var first: Int64
  /// The winner.
  package var revision: RevisionID
  /// Whether the winner is a tombstone.
  package var isDeleted: Bool
  /// The winner's `type`.
  package var type: String?
  /// When this life of the document began, in milliseconds.
  package var created: Int64
  /// When it last changed, in milliseconds.
  package var updated: Int64
  /// What the winner's body must add up to.
  package var bodyChecksum: Int64
  /// What the tree must add up to; nil when the row has none because there is one revision only.
  package var treeChecksum: Int64?

  /// A row of these columns.
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

  /// What these columns add up to.
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
}

extension StoredDocument {
  /// The document with its body.
  /// - Throws: `integrity` when the body is not what was written.
  package func document(_ body: [UInt8]) throws -> Document {
    guard Checksum.body(id, revision, body).matches(bodyChecksum) else {
      throw ServiceError.integrity("the body of change \(sequence) fails its checksum")
    }
    return Document(
      id: id, revision: revision, isDeleted: isDeleted, sequence: sequence,
      created: Timestamp(milliseconds: created), updated: Timestamp(milliseconds: updated),
      body: body)
  }

  /// The history, without the revisions that are stored apart.
  /// - Parameter encoded: the row's tree; not looked at where there is none.
  /// - Throws: `integrity` when the tree is not what was written.
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
    } catch {
      throw ServiceError(error) ?? .integrity("the tree of change \(sequence) is damaged")
    }
  }
}
