import Crypto
package import Documents

extension BookmarkMerge {
  /// The edit that makes a list document say one thing: a revision below the winner (or the tombstone, or
  /// the first of all), and tombstones that name it on the other live leaves.
  ///
  /// It depends on the tree's leaves and the body alone, so a replay elsewhere makes the same revisions.
  /// Branches that were closed before are let go of; see ``RevisionTree/shrinkClosedBranches(on:)``.
  /// - Parameter limit: how many revision ids to keep along a branch.
  /// - Parameter now: when branches are closed.
  /// - Throws: `invalidRevision` for a leaf in the last generation.
  package static func write(
    _ body: DocumentBody, onto tree: RevisionTree?, limit: Int, at now: Timestamp
  ) throws(DocumentError) -> Mutation {
    let id = BookmarkList.documentID
    let live = (tree?.liveLeaves ?? []).map(\.revision)
    let merged = try Edit.put(id, in: tree, base: live.first, body: body, limit: limit)
    var joined = merged.tree
    var closed: [RevisionID] = []
    for loser in live.dropFirst() {
      let tombstone = closing(loser, into: merged.revision)
      guard tombstone.generation <= RevisionID.maximumGeneration else {
        throw DocumentError(.invalidRevision, "The document has no generation left")
      }
      try joined.insert(tombstone, below: loser, isDeleted: true)
      closed.append(tombstone)
    }
    joined.prune(to: limit)
    let letsGo = joined.shrinkClosedBranches(on: now.day)
    var mutation = Mutation(id: id, tree: joined, revision: merged.revision, body: body)
    mutation.closed = closed.filter { joined[$0] != nil }
    mutation.letsGo = letsGo
    return mutation
  }

  /// The id of the tombstone that closes a losing leaf. It carries nothing, but its id names the revision
  /// that the leaf was merged into, so that whoever has the tree can tell.
  ///
  /// Layout of the digest: the merged revision's name (see ``name(of:)``), then the first 8 bytes of the
  /// SHA-256 over the byte 2, the leaf's id as text, the byte 0, the merged revision's id as text.
  static func closing(_ loser: RevisionID, into merged: RevisionID) -> RevisionID {
    let text = [2] + Array(loser.description.utf8) + [0] + Array(merged.description.utf8)
    let check = Hex.string(Array(SHA256.hash(data: text)).prefix(8))
    return RevisionID(generation: loser.generation + 1, digest: name(of: merged) + check)
  }

  /// What a tombstone's id says of the revision that it names: the first 16 digits of its digest.
  static func name(of revision: RevisionID) -> Substring { revision.digest.text.prefix(16) }
}
