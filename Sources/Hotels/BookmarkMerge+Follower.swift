package import Documents
package import Stores

extension BookmarkMerge {
  /// Merges the lists of a store as soon as a commit leaves the canonical one with several live leaves or
  /// puts a list under another id, before that commit is acknowledged.
  ///
  /// A merge that fails (the store is full, the disk is) loses nothing: the leaves stay, readers see them
  /// merged, and the next such commit or change of bookmarks tries again.
  /// - Parameter now: the stores' clock.
  package static func follower(now: @escaping @Sendable () -> Timestamp) -> CommitFollower {
    CommitFollower(
      concerns: { concerns($0) },
      follow: { store throws(StoreError) in _ = try await store.mergeLists(at: now()) })
  }

  /// Whether a mutation leaves something to merge. What a merge commits does not: one live leaf, and
  /// tombstones. Where it leaves more than it can merge at once, the next look finds nothing to write.
  static func concerns(_ mutation: Mutation) -> Bool {
    guard mutation.id != BookmarkList.documentID else {
      return mutation.tree.liveLeaves.count > 1
    }
    guard let winner = mutation.tree.winner, !winner.isDeleted else { return false }
    // A leaf that wins since another was deleted may be a list; its body is not at hand here.
    guard let body = mutation.body(of: winner.revision) else { return true }
    return body.type?.equalsBytes(of: BookmarkList.type) == true
  }
}
