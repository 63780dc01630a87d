import Documents
import SQLite
import Stores

/// The columns of a document's row before body and tree.
struct StoredDocument {
  /// The number of the last change, the row's place.
  var sequence: Int64
  /// The document's id.
  var id: DocumentID
  /// The number of the document's first change: its name among the bodies.
  var first: Int64
  /// The winner.
  var revision: RevisionID
  /// Whether the winner is a tombstone.
  var isDeleted: Bool
  /// The winner's `type`.
  var type: String?
  /// When this life of the document began, in milliseconds.
  var created: Int64
  /// When it last changed, in milliseconds.
  var updated: Int64
  /// What the winner's body must add up to.
  var bodyChecksum: Int64
  /// What the tree must add up to; nil when the row has none because there is one revision only.
  var treeChecksum: Int64?

  /// What these columns add up to.
  var checksum: Checksum {
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
  /// A row's columns, and whether they add up.
  struct Unverified {
    fileprivate let row: StoredDocument
    fileprivate let isSound: Bool
    /// The column after the common ones, body or tree; empty where none was asked for.
    let content: [UInt8]

    /// The columns, if they are what was written.
    /// - Throws: `integrity`.
    func verified() throws -> StoredDocument {
      guard isSound else {
        throw ServiceError.integrity("the row of change \(row.sequence) fails its checksum")
      }
      return row
    }
  }

  /// How a statement begins that finds rows for ``reading(_:)``; `body`, `tree` or both may follow.
  static var selected: StaticString {
    """
    SELECT sequence, id, first, generation, digest, is_deleted, type, created, updated,
      body_checksum, tree_checksum, checksum
    """
  }

  /// Reads a row of the columns of ``selected`` and, perhaps, one more.
  static func reading(_ row: borrowing Row) -> Unverified {
    let flag = row.int64(5)
    // Text that is no UTF-8 any more is damage of this row, as is any other that was not written so.
    let id = try? row.string(1)
    let digest = try? row.string(4)
    let type = row.isNull(6) ? nil : try? row.string(6)
    let document = StoredDocument(
      sequence: row.int64(0), id: DocumentID(stored: id ?? ""), first: row.int64(2),
      revision: RevisionID(generation: Int(row.int64(3)), digest: digest ?? ""),
      isDeleted: flag != 0, type: type, created: row.int64(7),
      updated: row.int64(8), bodyChecksum: row.int64(9),
      treeChecksum: row.isNull(10) ? nil : row.int64(10))
    let isSound =
      document.checksum.matches(row.int64(11)) && (flag == 0 || flag == 1) && id != nil
      && digest != nil && (type != nil || row.isNull(6))
    return Unverified(row: document, isSound: isSound, content: row.bytes(12))
  }

  /// The document with its body.
  /// - Throws: `integrity` when the body is not what was written.
  func document(_ body: [UInt8]) throws -> Document {
    guard Checksum.body(id, revision, body).matches(bodyChecksum) else {
      throw ServiceError.integrity("the body of change \(sequence) fails its checksum")
    }
    return Document(
      id: id, revision: revision, isDeleted: isDeleted, sequence: sequence,
      created: Timestamp(milliseconds: created), updated: Timestamp(milliseconds: updated),
      body: body)
  }

  /// The history, without what stands in pieces of its own.
  /// - Parameter encoded: the row's tree; not looked at where there is none.
  /// - Throws: `integrity` when the tree is not what was written.
  func tree(_ encoded: [UInt8]) throws -> RevisionTree {
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
      throw ServiceError(engine: error)
    }
  }
}
