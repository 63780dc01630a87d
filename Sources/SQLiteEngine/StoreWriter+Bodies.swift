import Documents
import JSON
import SQLite
import Stores

/// Which body stands with the winner, and which are kept beside it.
extension StoreWriter {
  /// What the mutation's revision says, as it is stored; nil where it adds no revision.
  func body(of mutation: Mutation) -> StoreRows.StoredBody? {
    guard let bytes = mutation.body?.bytes else { return nil }
    return StoreRows.StoredBody(
      bytes: bytes, checksum: Checksum.body(mutation.id, mutation.revision, bytes),
      arrival: StoredArrival(arrival, of: mutation.revision, mutation.id))
  }

  /// What a further revision of several edits says, as it is stored.
  func body(of added: AddedRevision, _ id: DocumentID) -> StoreRows.StoredBody {
    let bytes = added.body.bytes
    return StoreRows.StoredBody(
      bytes: bytes, checksum: Checksum.body(id, added.revision, bytes),
      arrival: StoredArrival(arrival, of: added.revision, id))
  }

  /// What a tombstone on a closed branch says, as it is stored.
  func tombstone(_ id: DocumentID, _ revision: RevisionID) -> StoreRows.StoredBody {
    let bytes = DocumentBody.empty.bytes
    return StoreRows.StoredBody(
      bytes: bytes, checksum: Checksum.body(id, revision, bytes),
      arrival: StoredArrival(arrival, of: revision, id))
  }

  /// What the winner says: the mutation's revision, the winner of before, or a leaf that had lost until
  /// the mutation put a tombstone or a descendant on the winner; that one's body leaves `bodies`.
  mutating func content(
    of winner: RevisionID, _ mutation: Mutation, _ old: LoadedDocuments.Found?
  ) throws -> (body: StoreRows.StoredBody, type: String?) {
    if winner == mutation.revision, let body = body(of: mutation) {
      return (body, mutation.body?.type)
    }
    if let added = mutation.further.last(where: { $0.revision == winner }) {
      return (body(of: added, mutation.id), added.body.type)
    }
    guard let old else { throw ServiceError.integrity("the winner's body was never stored") }
    if winner == old.row.revision {
      return (old.content, old.row.type)
    }
    return try promoted(winner, of: mutation.id, first: old.row.first)
  }

  /// What a leaf says that had lost and wins now; its body leaves `bodies`.
  mutating func promoted(
    _ winner: RevisionID, of id: DocumentID, first: Int64
  ) throws -> (body: StoreRows.StoredBody, type: String?) {
    let stored = try rows.body(of: first, winner)
    guard let stored, stored.checksum == Checksum.body(id, winner, stored.bytes) else {
      throw ServiceError.integrity("the body of a leaf is missing or fails its checksum")
    }
    let type = try DocumentBody(parsing: stored.bytes, limits: .stored).type
    header.otherBodyBytes -= try rows.removeBody(of: first, winner)
    return (stored, type)
  }

  /// Removes the bodies of a document's revisions that are no leaves.
  mutating func dropHistory(of old: LoadedDocuments.Found) throws {
    let leaves = Set(try old.tree().leaves.map(\.revision))
    var removed: Int64 = 0
    for place in try rows.bodies(of: old.row.first, below: .max)
    where !leaves.contains(place.revision) {
      removed += try rows.removeBody(at: place)
    }
    header.otherBodyBytes -= removed
  }

  /// A body that is to stand beside the winner's, and whose it is.
  typealias LosingBody = (body: StoreRows.StoredBody, revision: RevisionID)

  /// Stores bodies beside the winner's, and removes those that are too old: of revisions that the tree has
  /// forgotten, and of those more than ``ancestors`` steps above every leaf. One that comes takes the row of one
  /// that goes, so that an edit writes one of their pages and not two.
  ///
  /// Only bodies that many generations below the new revision can have become too old by it, so that
  /// the tree is measured only when there is one; where no ancestors are kept, branches were joined without a new
  /// revision, closed ones were let go of, or there are several new ones, every body may go.
  /// - Parameter hasOthers: whether there may be bodies already: not those of a document that is new.
  /// - Returns: by how many bytes the table has grown.
  func exchangeBodies(
    of first: Int64, for losing: [LosingBody], _ mutation: Mutation, hasOthers: Bool
  ) throws -> Int64 {
    let isMeasured =
      ancestors > 0 && mutation.body != nil && mutation.further.isEmpty && !mutation.hasJoined
      && !mutation.letsGo
    let generation = isMeasured ? mutation.revision.generation - ancestors : .max
    var losing = losing
    var old: [StoreRows.BodyPlace] = []
    if hasOthers, generation > 1 { old = try rows.bodies(of: first, below: generation) }
    if !old.isEmpty || losing.contains(where: { $0.revision.generation < generation }) {
      let kept = mutation.tree.revisions(withinSteps: ancestors)
      old.removeAll { kept.contains($0.revision) }
      losing.removeAll { $0.revision.generation < generation && !kept.contains($0.revision) }
    }
    var grown: Int64 = 0
    for (place, next) in losing.enumerated() {
      let former = old.indices.contains(place) ? old[place] : nil
      grown += try rows.insert(next.body, of: first, next.revision, insteadOf: former)
    }
    for place in old.dropFirst(losing.count) { grown -= try rows.removeBody(at: place) }
    return grown
  }
}
