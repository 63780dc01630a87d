package import Documents

/// A document with damaged values: all data that the file has of it, unverified.
package struct DamagedDocument {
  /// The columns before body and tree.
  package var head: RowValues
  /// The winner's body.
  package var body: RowValues
  /// The revision tree; nil for a document with one revision.
  package var tree: RowValues?
  /// The bodies of the other revisions, with the numbers of their rows.
  package var others: [(number: Int64, row: RowValues)]

  package init(
    head: RowValues, body: RowValues, tree: RowValues?, others: [(number: Int64, row: RowValues)]
  ) { (self.head, self.body, self.tree, self.others) = (head, body, tree, others) }

  /// Whether everything is sound, except for bodies of ancestors that are missing.
  package var isWhole: Bool {
    (tree?.isSound ?? true) && others.allSatisfy(\.row.isSound) && lacksOnlyAncestors
  }

  /// Repairs the columns if they are damaged and can be repaired.
  /// - Returns: whether they were repaired.
  package mutating func repairHead(now: Timestamp) -> Bool {
    // Columns whose context can't be confirmed may be those of another store.
    guard !head.isSound,
      let repaired = head.repaired() ?? (head.context.isEmpty ? rebuiltHead(now: now) : nil),
      repaired.context == head.context
    else { return false }
    head = repaired
    return true
  }

  /// Repairs the body, the tree and the other bodies as far as possible, if the columns are sound.
  /// - Returns: how many values were repaired.
  package mutating func repairContent() -> Int {
    guard head.isSound, let row = head.document else { return 0 }
    var count = 0
    body = RowValues(body, of: row, sum: row.bodyChecksum)
    if !body.isSound, let repaired = body.repaired(onlyContent: true) {
      body = repaired
      count += 1
    }
    tree = row.treeChecksum.map { sum in
      RowValues(tree ?? RowValues(kind: .tree, values: [], checksum: sum), of: row, sum: sum)
    }
    if let damaged = tree, !damaged.isSound, let repaired = damaged.repaired(onlyContent: true) {
      tree = repaired
      count += 1
    }
    for index in others.indices {
      others[index].row.values[0] = .text(Array(row.id.text.utf8))
      guard !others[index].row.isSound, let repaired = others[index].row.repaired() else {
        continue
      }
      others[index].row = repaired
      count += 1
    }
    return count
  }

  /// The columns with a new checksum, if the body or the history confirms the id and the winner; otherwise nil.
  ///
  /// Columns that body and history do not determine are kept if their values are possible, and replaced otherwise.
  private func rebuiltHead(now: Timestamp) -> RowValues? {
    guard var row = head.document else { return nil }
    let isBodySound = RowValues(body, of: row, sum: row.bodyChecksum).isSound
    let history = history(of: row)
    guard isBodySound || row.treeChecksum != nil && history != nil else { return nil }
    if let winner = history?.winner, row.treeChecksum != nil { row.isDeleted = winner.isDeleted }
    if isBodySound { row.type = (try? DocumentBody(parsing: body.content, limits: .request))?.type }
    let times = 0...max(now.milliseconds, 0)
    if !times.contains(row.updated) { row.updated = now.milliseconds }
    if !times.contains(row.created) { row.created = row.updated }
    let ownsBodies = others.contains { _, other in
      var other = other
      other.values[0] = .text(Array(row.id.text.utf8))
      return other.isSound
    }
    if !ownsBodies { row.first = row.sequence }
    return RowValues(row)
  }

  /// The revision tree; nil when it is lost.
  package func history(of row: StoredDocument) -> RevisionTree? {
    guard let decoded = try? row.tree(tree?.content ?? []), let winner = decoded.winner,
      winner.revision == row.revision
    else { return nil }
    return decoded
  }

  /// Whether at most bodies of ancestors are lost.
  package var lacksOnlyAncestors: Bool {
    guard let row = head.document, head.isSound, body.isSound, let tree = history(of: row) else {
      return false
    }
    let known = soundRevisions(of: row)
    return tree.nodes.allSatisfy { !$0.isLeaf || known.contains($0.revision) }
  }

  /// The revisions whose bodies match their checksums.
  private func soundRevisions(of row: StoredDocument) -> Set<RevisionID> {
    var revisions = Set(others.lazy.filter(\.row.isSound).compactMap(\.row.revision))
    if body.isSound { revisions.insert(row.revision) }
    return revisions
  }

  /// The tree of the revisions whose bodies are sound. If the history is lost, it contains the winner alone.
  package func rest(of row: StoredDocument) -> RevisionTree {
    if let tree = history(of: row) { return tree.keeping(soundRevisions(of: row)) }
    var single = row
    single.treeChecksum = nil
    return body.isSound ? (try? single.tree([])) ?? RevisionTree() : RevisionTree()
  }

  /// The bytes to keep as damage: the damaged bodies, the bodies whose position in a lost history is unknown, and a
  /// damaged tree.
  package func lostBodies(
    of row: StoredDocument, keeping rest: RevisionTree
  ) -> [(revision: String, bytes: [UInt8])] {
    var lost: [(revision: String, bytes: [UInt8])] = []
    if !body.isSound { lost.append((row.revision.description, body.content)) }
    for (_, other) in others where !other.isSound || other.revision.map({ rest[$0] }) == nil {
      lost.append((other.revision?.description ?? "", other.content))
    }
    if let tree, !tree.isSound { lost.append((row.revision.description, tree.content)) }
    if lost.isEmpty { lost.append((row.revision.description, [])) }
    return lost
  }
}
