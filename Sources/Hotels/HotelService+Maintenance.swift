package import Documents
package import Stores

extension HotelService {
  /// Removes expired data from a store that nobody writes to: expired local documents, branches of the list that
  /// merges closed long ago, adoption receipts of guests' stores that no longer exist, and old tombstones in
  /// people's stores and lists. Each kind is one small update.
  /// - Parameter moment: the time to compare with.
  /// - Parameter isOld: whether a document that was deleted at the given time may be forgotten; nil to forget
  ///   nothing.
  /// - Returns: what was removed and what was left; empty for an absent store.
  /// - Throws: `store`.
  package func maintain(
    _ name: StoreName, at moment: Timestamp,
    forgetting isOld: (@Sendable (Timestamp) -> Bool)? = nil
  ) async throws -> Remains {
    let receipts = try await adoptionReceipts(in: name)
    return try await stores.visit(name) { store in
      guard let store else { return Remains() }
      var remains = try await store.removeExpired(at: moment)
      remains.add(try await store.shrinkList(at: moment))
      if !receipts.gone.isEmpty {
        let edits = receipts.gone.map { LocalEdit($0, nil) }
        try await store.update(as: .server) { changes in
          for edit in edits { changes.write(edit) }
        }
      }
      try await store.removeAbandonedAttachments()
      if let isOld, name.isPersonal {
        remains.add(try await store.forget(sparing: BookmarkList.documentID, isOld))
      }
      remains.removed[.adoptions] = receipts.gone.count
      remains.kept[.adoptions] = receipts.kept
      return remains
    }
  }

  /// A user's adoption receipts. A receipt is needed as long as the guest's store exists. Without it the same data
  /// could be adopted a second time.
  private func adoptionReceipts(in name: StoreName) async throws -> (gone: [LocalID], kept: Int) {
    guard case .user = name else { return ([], 0) }
    let ids = try await stores.visit(name) { store in
      guard let store else { return [LocalID]() }
      return try await store.read { view in
        try view.localValues(Self.receipts, atMost: Self.receiptsAtOnce) { id, _ in id }
      }
    }
    var gone: [LocalID] = []
    for id in ids {
      guard let guest = Self.guest(of: id) else { continue }
      if try await stores.visit(.guest(guest), { $0 == nil }) { gone.append(id) }
    }
    return (gone, ids.count - gone.count)
  }

  /// Receipts of adoptions that one call looks at.
  private static let receiptsAtOnce = 100
}

extension DocumentStore {
  /// Removes branches of the list that merges closed long ago, as the next change of the list would; see
  /// ``RevisionTree/shrinkClosedBranches(on:unrecorded:)``. Writes nothing when there is nothing to remove, so that
  /// no client has to read the list again.
  /// - Returns: how many branches were removed, and of how many only a mark is left.
  /// - Throws: the store's errors.
  func shrinkList(at moment: Timestamp) async throws -> Remains {
    let id = BookmarkList.documentID
    let (marks, mutation) = try await read { view in try BookmarkMerge.shrunk(view, at: moment) }
    var remains = Remains()
    remains.kept[.branches] = marks
    guard mutation != nil else { return remains }
    remains.kept[.branches] = try await update(loading: [id], as: .server) { changes -> Int in
      let (marks, mutation) = try BookmarkMerge.shrunk(changes.view, at: moment)
      changes.write(mutation)
      return mutation?.tree.markCount ?? marks
    }
    remains.removed[.branches] = max(0, marks - (remains.kept[.branches] ?? 0))
    return remains
  }
}

extension BookmarkMerge {
  /// The list without branches that were closed long ago.
  ///
  /// The day on which a peer closed a branch is recorded with the next change of the list. Until then the branch
  /// counts as closed when the list last changed.
  /// - Returns: the list's marks as stored, and the mutation; nil when nothing is to be removed.
  static func shrunk(
    _ view: any StoreView, at moment: Timestamp
  ) throws -> (marks: Int, mutation: Mutation?) {
    let id = BookmarkList.documentID
    guard let tree = try view.newest(id) else { return (0, nil) }
    guard tree.isMoreThanOneRevision, let list = try view.document(id) else {
      return (tree.markCount, nil)
    }
    var rest = tree
    let removesClosedBranches = rest.shrinkClosedBranches(
      on: moment.day, unrecorded: min(list.updated, moment).day)
    guard removesClosedBranches || rest.markCount != tree.markCount else {
      return (tree.markCount, nil)
    }
    var mutation = Mutation(id: id, tree: rest, revision: list.revision, body: nil)
    mutation.removesClosedBranches = removesClosedBranches
    return (tree.markCount, mutation)
  }
}
