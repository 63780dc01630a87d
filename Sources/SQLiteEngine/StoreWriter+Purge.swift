import Documents
import SQLite
import Stores

/// Forgetting revisions, as if they had never been there.
extension StoreWriter {
  /// Takes revisions out of a document, or the whole document out of the store. Either way the store's
  /// sequence advances by one, and bodies that no revision has any more are gone.
  mutating func write(
    _ purge: Purge, replacing old: LoadedDocuments.Found, at now: Timestamp
  ) throws(StoreError) {
    rows.recent.forget(purge.id)
    guard let winner = purge.tree.winner else {
      try remove(old.row)
      count(removed: old.row, old.body)
      rows.counts.move(from: old.row.sequence, to: nil)
      header.lastSequence += 1
      header.newest = try storing(rows.newestSequence)
      return
    }
    let sequence = header.lastSequence + 1
    let first = old.row.first
    let content = try content(of: winner.revision, purge.id, old)
    let tree = purge.tree.isMoreThanOneRevision ? purge.tree.encoded : nil
    let row = StoredDocument(
      sequence: sequence, id: purge.id, first: first, revision: winner.revision,
      isDeleted: winner.isDeleted, type: content.type, created: old.row.created,
      updated: now.milliseconds, bodyChecksum: content.body.checksum,
      treeChecksum: tree.map { Checksum.tree(purge.id, winner.revision, $0) })
    // An ancestor that the purged leaf was near may be too far from those that are left.
    let kept = purge.tree.revisions(withinSteps: ancestors)
    header.otherBodyBytes += try storing { () throws(SQLiteError) in
      var grown: Int64 = 0
      if old.row.revision != winner.revision, kept.contains(old.row.revision) {
        let body = StoreRows.StoredBody(bytes: old.body, checksum: old.row.bodyChecksum)
        grown += try rows.insert(body, of: first, old.row.revision)
      }
      try rows.remove(old.row)
      for place in try rows.bodies(of: first, below: .max) where !kept.contains(place.revision) {
        grown -= try rows.removeBody(at: place)
      }
      try rows.insert(row, body: content.body.bytes, tree: tree)
      return grown
    }
    header.lastSequence = sequence
    header.newest = sequence
    count(row, content.body.bytes, replacing: old)
  }

  private mutating func remove(_ row: StoredDocument) throws(StoreError) {
    header.otherBodyBytes -= try storing { () throws(SQLiteError) in
      var removed: Int64 = 0
      try rows.remove(row)
      for place in try rows.bodies(of: row.first, below: .max) {
        removed += try rows.removeBody(at: place)
      }
      try rows.removeEntries(of: row.id)
      return removed
    }
  }

  private mutating func count(removed row: StoredDocument, _ body: [UInt8]) {
    if row.isDeleted { header.deleted -= 1 } else { header.live -= 1 }
    header.bytes -= Int64(body.count)
  }

  /// What the winner says that is left: the winner of before, or a leaf that had lost.
  private mutating func content(
    of winner: RevisionID, _ id: DocumentID, _ old: LoadedDocuments.Found
  ) throws(StoreError) -> (body: StoreRows.StoredBody, type: String?) {
    guard winner != old.row.revision else {
      return (StoreRows.StoredBody(bytes: old.body, checksum: old.row.bodyChecksum), old.row.type)
    }
    return try promoted(winner, of: id, first: old.row.first)
  }
}
