import Documents
import SQLite
import Stores

extension StoreRows {
  /// Checks what belongs to a document whose columns are sound: its body, its history and the bodies beside the
  /// winner's.
  /// - Parameter lengths: takes the length of each body that was looked at.
  /// - Throws: `integrity` for the first that is not what was written.
  func check(
    _ document: StoredDocument, _ body: [UInt8], tree encoded: [UInt8], into lengths: inout [Int]
  ) throws(StoreError) {
    lengths.append(body.count)
    _ = try document.document(body)
    guard document.first >= 1, document.first <= document.sequence else {
      throw .integrity("its first change has the number \(document.first)")
    }
    let tree = try document.tree(encoded)
    guard let winner = tree.winner, winner.revision == document.revision,
      winner.isDeleted == document.isDeleted
    else { throw .integrity("the row's revision is not the tree's winner") }
    try checkBodies(of: document, tree, into: &lengths)
  }

  /// Bodies beside the winner's: each is what was written, and no leaf lacks one.
  private func checkBodies(
    of document: StoredDocument, _ tree: RevisionTree, into lengths: inout [Int]
  ) throws(StoreError) {
    var missing = Set(tree.nodes.lazy.filter(\.isLeaf).map(\.revision))
    missing.remove(document.revision)
    let statement = try storing { () throws(SQLiteError) in
      let statement = try connection.statement(
        "SELECT generation, digest, body_checksum, body FROM bodies WHERE first = ?1")
      try statement.bind(document.first, at: 1)
      return statement
    }
    defer { statement.reset() }
    while try storing(statement.step) {
      let row = statement.row
      let digest = (try? row.string(1)) ?? ""
      let revision = RevisionID(generation: Int(clamping: row.int64(0)), digest: digest)
      let bytes = row.bytes(3)
      lengths.append(bytes.count)
      guard Checksum.body(document.id, revision, bytes) == row.int64(2) else {
        throw .integrity("the body of one of its revisions fails its checksum")
      }
      missing.remove(revision)
    }
    guard missing.isEmpty else { throw .integrity("the body of a leaf is missing") }
  }
}
