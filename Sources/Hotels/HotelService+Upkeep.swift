package import Documents
package import Stores

extension HotelService {
  /// Removes from a store what it kept for a time that is over, without anybody writing to it: local documents that
  /// have expired, branches of the list that merges closed long ago, receipts of guests' stores that are gone, and in
  /// people's own stores and lists old tombstones. One small update for each.
  /// - Parameter moment: when times are over.
  /// - Parameter isOld: whether what was deleted at a moment may be forgotten; nil to forget nothing.
  /// - Returns: what went and what was left; nothing for an absent store.
  /// - Throws: `store`.
  package func keepUp(
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
        try await store.update { changes in
          for edit in edits { changes.write(edit) }
        }
      }
      if let isOld, name.isPersonal {
        remains.add(try await store.forget(sparing: BookmarkList.documentID, isOld))
      }
      remains.removed[.adoptions] = receipts.gone.count
      remains.kept[.adoptions] = receipts.kept
      return remains
    }
  }

  /// A user's receipts of what came from guests: a receipt is needed for as long as the guest's store is there, from
  /// which all would come a second time.
  private func adoptionReceipts(
    in name: StoreName
  ) async throws -> (gone: [LocalID], kept: Int) {
    guard case .user = name else { return ([], 0) }
    let prefix = LocalID(receipt: "guest/").text
    let ids = try await stores.visit(name) { store in
      guard let store else { return [LocalID]() }
      return try await store.read { view in
        var ids: [LocalID] = []
        try view.locals(DocumentRange(start: prefix, end: LocalID(receipt: "guest0").text)) {
          id, _ in
          ids.append(id)
          return ids.count < Self.receiptsAtOnce
        }
        return ids
      }
    }
    var gone: [LocalID] = []
    for id in ids {
      let key = String(
        decoding: id.text.utf8.dropFirst(LocalID.receiptPrefix.utf8.count), as: UTF8.self)
      guard let guest = StoreName(key: key) else { continue }
      let isGone = try await stores.visit(guest) { store in store == nil }
      if isGone { gone.append(id) }
    }
    return (gone, ids.count - gone.count)
  }

  /// Receipts of adoptions that one visit looks at: another looks at the next.
  private static let receiptsAtOnce = 100
}

extension DocumentStore {
  /// Lets go of branches of the list that merges closed long ago, as the next change of the list would; see
  /// ``RevisionTree/shrinkClosedBranches(on:)``.
  /// - Returns: how many branches a mark is left of.
  /// - Throws: the store's errors.
  func shrinkList(at moment: Timestamp) async throws -> Remains {
    let id = BookmarkList.documentID
    let before = try await read { view in try view.newest(id) }
    guard let before else { return Remains() }
    var remains = Remains()
    remains.kept[.branches] = before.markCount
    guard BookmarkMerge.shrunk(before, at: moment) != nil else { return remains }
    remains.kept[.branches] = try await update(loading: [id]) { changes -> Int in
      guard let tree = try changes.view.newest(id) else { return 0 }
      guard let mutation = BookmarkMerge.shrunk(tree, at: moment) else { return tree.markCount }
      changes.write(mutation)
      return mutation.tree.markCount
    }
    remains.removed[.branches] = max(0, before.markCount - (remains.kept[.branches] ?? 0))
    return remains
  }
}

extension BookmarkMerge {
  /// The list as it is, but for branches that were closed long ago; nil where all may stay.
  static func shrunk(_ tree: RevisionTree, at moment: Timestamp) -> Mutation? {
    var rest = tree
    let letsGo = rest.shrinkClosedBranches(on: moment.day)
    guard rest != tree, let winner = rest.winner else { return nil }
    var mutation = Mutation(
      id: BookmarkList.documentID, tree: rest, revision: winner.revision, body: nil)
    mutation.letsGo = letsGo
    return mutation
  }
}
