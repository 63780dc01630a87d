package import Documents

/// Writes what rules record into the open transaction, and keeps the counts. A value: when the transaction is
/// rolled back, the writer is discarded with it.
package struct StoreWriter<Tables: StoreTables> {
  package let rows: Tables
  /// The counts, including what was written so far.
  package var header: StoreHeader
  package private(set) var hasWritten = false
  /// Whether an error interrupted the write of an update, so that the update must be undone.
  package private(set) var isWriting = false
  /// How many ancestors' bodies the current update keeps.
  package private(set) var ancestors = StoreLimits.storedAncestors
  /// The time and the author of the current update's revisions.
  package private(set) var arrival = Arrival(time: Timestamp(milliseconds: 0), author: .server)

  /// Creates a writer at the start of a transaction.
  package init(rows: Tables, header: StoreHeader) {
    self.rows = rows
    self.header = header
  }

  /// Writes what one rule recorded.
  /// - Parameter loaded: the documents that the rule read.
  package mutating func write(
    _ changes: StoreChanges, of loaded: LoadedDocuments, at now: Timestamp
  ) throws {
    guard !changes.isEmpty else { return }
    hasWritten = true
    isWriting = true
    ancestors = changes.keepsHistory ? StoreLimits.storedAncestors : 0
    arrival = Arrival(time: now, author: changes.author)
    for mutation in changes.mutations {
      try write(mutation, replacing: try loaded.document(mutation.id), at: now)
    }
    for purge in changes.purges {
      guard let old = try loaded.document(purge.id) else { continue }
      try write(purge, replacing: old, at: now)
    }
    for bodies in changes.forgotten {
      guard let old = try loaded.document(bodies.id) else { continue }
      // The update itself may have changed the document that was loaded.
      let edited = changes.mutations.last { $0.id == bodies.id }?.tree
      let tree = try edited ?? changes.purges.last { $0.id == bodies.id }?.tree ?? old.tree()
      try remove(bodies, of: old.row.first, in: tree)
    }
    if !changes.locals.isEmpty {
      try rows.removeExpiredLocals(at: now)
      for edit in changes.locals { try rows.apply(edit) }
    }
    if !changes.indexes.isEmpty {
      for edit in changes.indexes { try rows.apply(edit) }
    }
    isWriting = false
  }

  /// Writes a document's next state. Its row gets the next sequence number and the winner's body. The body of
  /// the former winner, or of a new revision that is not the winner, is written to `bodies`.
  private mutating func write(
    _ mutation: Mutation, replacing old: LoadedDocuments.Found?, at now: Timestamp
  ) throws {
    guard let winner = mutation.tree.winner else {
      throw ServiceError(DocumentError(.damaged, "A document needs at least one revision"))
    }
    let first = old?.row.first ?? header.lastSequence + 1
    let content = try content(of: winner.revision, mutation, old)
    let newest = try rows.writeHistory(mutation.tree, of: mutation.id, first, replacing: old)
    let losing = losing(mutation, to: winner.revision, old)
    let grown = try exchangeBodies(of: first, for: losing, mutation, hasOthers: old != nil)
    let row = try put(
      winner, of: mutation.id, first, content, newest,
      created: Self.creationTime(mutation, winner, old?.row, now), updated: mutation.updated ?? now,
      replacing: old)
    header.otherBodyBytes += grown
    rows.note(LoadedDocuments.Found(row: row, body: content.body, tree: newest))
  }

  /// Puts the row of a document's next state under the next sequence number.
  /// - Parameter newest: the revisions that are not in pieces.
  private mutating func put(
    _ winner: RevisionTree.Node, of id: DocumentID, _ first: Int64,
    _ content: (body: StoredBody, type: String?), _ newest: RevisionTree, created: Timestamp,
    updated: Timestamp, replacing old: LoadedDocuments.Found?
  ) throws -> StoredDocument {
    let sequence = header.lastSequence + 1
    let tree = newest.isMoreThanOneRevision ? newest.encoded : nil
    let row = StoredDocument(
      sequence: sequence, id: id, first: first, revision: winner.revision,
      isDeleted: winner.isDeleted, type: content.type, created: created.milliseconds,
      updated: updated.milliseconds, bodyChecksum: content.body.checksum,
      treeChecksum: tree.map { Checksum.tree(id, winner.revision, $0).value })
    try rows.put(row, body: content.body, tree: tree, replacing: old?.row)
    header.lastSequence = sequence
    header.newest = sequence
    count(row, content.body.bytes, replacing: old)
    return row
  }

  /// The bodies that a mutation adds to `bodies`: the former winner's if it is kept, the new revision's if it
  /// is not the winner, and those of tombstones on closed branches.
  private func losing(
    _ mutation: Mutation, to winner: RevisionID, _ old: LoadedDocuments.Found?
  ) -> [LosingBody] {
    var losing: [LosingBody] = []
    if let old, old.row.revision != winner, isKept(old.row.revision, in: mutation.tree) {
      losing.append((old.content, old.row.revision))
    }
    for added in mutation.further where added.revision != winner {
      losing.append((stored(added.body, of: added.revision, mutation.id), added.revision))
    }
    if winner != mutation.revision, let body = body(of: mutation) {
      losing.append((body, mutation.revision))
    }
    for revision in mutation.closed {
      losing.append((stored(.empty, of: revision, mutation.id), revision))
    }
    return losing
  }

  /// Whether the body of the former winner is kept.
  private func isKept(_ revision: RevisionID, in tree: RevisionTree) -> Bool {
    guard let node = tree[revision] else { return false }
    return node.isLeaf || ancestors > 0
  }

  package mutating func count(
    _ row: StoredDocument, _ body: [UInt8], replacing old: LoadedDocuments.Found?
  ) {
    rows.noteMove(from: old?.row.sequence, to: row.sequence)
    header.live += (row.isDeleted ? 0 : 1) - (old.map { $0.row.isDeleted ? 0 : 1 } ?? 0)
    header.deleted += (row.isDeleted ? 1 : 0) - (old.map { $0.row.isDeleted ? 1 : 0 } ?? 0)
    header.bytes += Int64(body.count) - Int64(old?.body.count ?? 0)
  }

  /// A document that is restored after a tombstone gets a new creation time.
  private static func creationTime(
    _ mutation: Mutation, _ winner: RevisionTree.Node, _ old: StoredDocument?, _ now: Timestamp
  ) -> Timestamp {
    if let created = mutation.created { return created }
    guard let old, !mutation.isReborn, winner.isDeleted || !old.isDeleted else { return now }
    return Timestamp(milliseconds: old.created)
  }

  // MARK: Purges

  /// Removes revisions of a document, or the complete document. In both cases the store's sequence number
  /// grows by one, and bodies of removed revisions are removed.
  package mutating func write(
    _ purge: Purge, replacing old: LoadedDocuments.Found, at now: Timestamp
  ) throws {
    rows.forget(purge.id)
    guard let winner = purge.tree.winner else {
      try remove(old.row)
      count(removed: old.row, old.body)
      rows.noteMove(from: old.row.sequence, to: nil)
      header.lastSequence += 1
      header.newest = try rows.newestSequence()
      return
    }
    let first = old.row.first
    let content = try content(of: winner.revision, purge.id, old)
    let newest = try rows.writeHistory(purge.tree, of: purge.id, first, replacing: old)
    // Without the purged leaf, an ancestor may be too far from all remaining leaves.
    let kept = purge.tree.revisions(withinSteps: ancestors)
    var grown: Int64 = 0
    if old.row.revision != winner.revision, kept.contains(old.row.revision) {
      grown -= try rows.removeBody(of: first, old.row.revision)
      grown += try rows.insert(old.content, of: first, old.row.revision, replacing: nil)
    }
    for key in try rows.bodies(of: first, below: .max) where !kept.contains(key.revision) {
      grown -= try rows.removeBody(with: key, of: first)
    }
    _ = try put(
      winner, of: purge.id, first, content, newest,
      created: Timestamp(milliseconds: old.row.created), updated: now, replacing: old)
    header.otherBodyBytes += grown
  }

  private mutating func remove(_ row: StoredDocument) throws {
    var removed: Int64 = 0
    try rows.remove(row)
    for key in try rows.bodies(of: row.first, below: .max) {
      removed += try rows.removeBody(with: key, of: row.first)
    }
    try rows.removeEntries(of: row.id)
    try rows.removeHistory(of: row.first)
    header.otherBodyBytes -= removed
  }

  private mutating func count(removed row: StoredDocument, _ body: [UInt8]) {
    if row.isDeleted { header.deleted -= 1 } else { header.live -= 1 }
    header.bytes -= Int64(body.count)
  }

  /// The body of the winner after a purge: that of the former winner, or of another leaf.
  private mutating func content(
    of winner: RevisionID, _ id: DocumentID, _ old: LoadedDocuments.Found
  ) throws -> (body: StoredBody, type: String?) {
    guard winner != old.row.revision else { return (old.content, old.row.type) }
    return try promote(winner, of: id, first: old.row.first)
  }

  // MARK: Which body is stored with the winner, and which are stored in `bodies`

  /// The stored form of the body of the mutation's revision; nil when the mutation adds no revision.
  package func body(of mutation: Mutation) -> StoredBody? {
    mutation.body.map { stored($0, of: mutation.revision, mutation.id) }
  }

  /// The stored form of the body of a revision that an update adds.
  package func stored(
    _ body: DocumentBody, of revision: RevisionID, _ id: DocumentID
  ) -> StoredBody {
    StoredBody(
      bytes: body.bytes, checksum: Checksum.body(id, revision, body.bytes).value,
      arrival: StoredArrival(arrival, of: revision, id))
  }

  /// The body of the winner: that of the mutation's revision, of the former winner, or of another leaf that
  /// now wins because the mutation added a tombstone or a descendant to the winner. The body of such a leaf
  /// is removed from `bodies`.
  package mutating func content(
    of winner: RevisionID, _ mutation: Mutation, _ old: LoadedDocuments.Found?
  ) throws -> (body: StoredBody, type: String?) {
    if winner == mutation.revision, let body = body(of: mutation) {
      return (body, mutation.body?.type)
    }
    if let added = mutation.further.last(where: { $0.revision == winner }) {
      return (stored(added.body, of: added.revision, mutation.id), added.body.type)
    }
    guard let old else { throw ServiceError.integrity("the winner's body was never stored") }
    if winner == old.row.revision { return (old.content, old.row.type) }
    return try promote(winner, of: mutation.id, first: old.row.first)
  }

  /// The body of a leaf that now is the winner. It is removed from `bodies`.
  package mutating func promote(
    _ winner: RevisionID, of id: DocumentID, first: Int64
  ) throws -> (body: StoredBody, type: String?) {
    let stored = try rows.body(of: first, winner)
    guard let stored, Checksum.body(id, winner, stored.bytes).matches(stored.checksum) else {
      throw ServiceError.integrity("the body of a leaf is missing or fails its checksum")
    }
    let type = try DocumentBody(parsing: stored.bytes, limits: .stored).type
    header.otherBodyBytes -= try rows.removeBody(of: first, winner)
    return (stored, type)
  }

  /// Removes bodies of a document's revisions that are not leaves.
  /// - Parameter first: the number of the document's first change.
  private mutating func remove(
    _ bodies: ForgottenBodies, of first: Int64, in tree: RevisionTree
  ) throws {
    let leaves = Set(tree.leaves.map(\.revision))
    var removed: Int64 = 0
    for key in try rows.bodies(of: first, below: .max)
    where bodies.contains(key.revision, leaves: leaves) {
      removed += try rows.removeBody(with: key, of: first)
    }
    header.otherBodyBytes -= removed
  }

  /// A body for `bodies`, with its revision.
  package typealias LosingBody = (body: StoredBody, revision: RevisionID)

  /// Stores bodies in `bodies` and removes those that are too old: bodies of forgotten revisions, and of
  /// revisions more than ``ancestors`` steps from every leaf. A new body takes the row of a removed one, so
  /// that an edit writes one page instead of two.
  ///
  /// An edit can only make bodies too old that are more than ``ancestors`` generations below the new revision. So
  /// the tree is measured only when there is such a body. Any body may be removed when no ancestors are kept, when
  /// branches were joined without a new revision, when closed branches were removed, or when there are several
  /// new revisions.
  /// - Parameter hasOthers: whether the document may already have bodies there; false for a new document.
  /// - Returns: by how many bytes the table has grown.
  package func exchangeBodies(
    of first: Int64, for losing: [LosingBody], _ mutation: Mutation, hasOthers: Bool
  ) throws -> Int64 {
    let isMeasured =
      ancestors > 0 && mutation.body != nil && mutation.further.isEmpty && !mutation.hasJoined
      && !mutation.removesClosedBranches
    let generation = isMeasured ? mutation.revision.generation - ancestors : .max
    var losing = losing
    var old: [StoredBodyKey] = []
    if hasOthers, generation > 1 { old = try rows.bodies(of: first, below: generation) }
    if !old.isEmpty || losing.contains(where: { $0.revision.generation < generation }) {
      let kept = mutation.tree.revisions(withinSteps: ancestors)
      old.removeAll { kept.contains($0.revision) }
      losing.removeAll { $0.revision.generation < generation && !kept.contains($0.revision) }
    }
    var grown: Int64 = 0
    let stored = try storedAlready(losing, of: first, hasOthers: hasOthers)
    for (index, next) in losing.enumerated() {
      let former = old.indices.contains(index) ? old[index] : nil
      if stored?.contains(next.revision) ?? true {
        grown -= try rows.removeBody(of: first, next.revision)
      }
      grown += try rows.insert(next.body, of: first, next.revision, replacing: former)
    }
    for key in old.dropFirst(losing.count) { grown -= try rows.removeBody(with: key, of: first) }
    return grown
  }

  /// The revisions of a document whose bodies are stored, among them perhaps one that was pruned and comes again; nil when
  /// there are so few new bodies that a query for each is cheaper. A query for one body visits all others of its
  /// generation, so that hundreds of new tombstones side by side would cost their number squared.
  private func storedAlready(
    _ losing: [LosingBody], of first: Int64, hasOthers: Bool
  ) throws -> Set<RevisionID>? {
    guard hasOthers else { return [] }
    guard losing.count > 4 else { return nil }
    return Set(try rows.bodies(of: first, below: .max).map(\.revision))
  }
}
