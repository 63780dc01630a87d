import Documents
import Stores

/// Restoring earlier revisions.
extension BookmarkEdit {
  /// Carries out a request; see ``HotelService/restore(_:of:in:condition:)``.
  /// - Parameter isFixed: whether the document is one that can't be deleted.
  /// - Parameter former: the list that the revision says; nil for another document, and if it is not stored.
  mutating func restore(
    _ request: RestoreRequest, of id: DocumentID, isFixed: Bool, saying former: BookmarkList?,
    _ condition: RevisionCondition
  ) throws -> RestoreOutcome {
    guard let tree = try view.tree(id), let winner = tree.winner,
      let wanted = tree[request.revision]
    else { throw Self.unknown }
    try condition.check(document: winner)
    guard request.base == nil || request.base == winner.revision else {
      throw ServiceError(
        .conflict, "The document's revision is \(winner.revision), not the base that is given")
    }
    if wanted.isDeleted {
      guard !isFixed else {
        throw ServiceError(
          .forbidden,
          "A list's own document can't be deleted: DELETE /v1/lists/{listID} deletes the list")
      }
      // A branch that was merged ends in a tombstone, too, though its document never was deleted.
      guard winner.isDeleted || tree.history(of: winner.revision).contains(wanted.revision) else {
        throw ServiceError(
          .conflict,
          "This revision ends a branch that was merged or has lost: restore the one before it")
      }
    }
    guard id != BookmarkList.documentID else {
      return try restoreList(wanted, former, over: winner)
    }
    guard !wanted.isDeleted else { return try restoreDeletion(of: id, tree, winner) }
    let present = tree.liveLeaves.first?.revision
    let body = try following(present, try said(wanted.revision, by: id), of: id, tree)
    guard body.type?.equalsBytes(of: BookmarkList.type) != true else {
      throw ServiceError(
        .conflict,
        "This list was merged into \(BookmarkList.documentID): restore a revision of that one")
    }
    try settleList(on: id, saying: body)
    let others = tree.liveLeaves.dropFirst().map(\.revision)
    if others.isEmpty, !winner.isDeleted, try view.document(id)?.body == body.bytes {
      return RestoreOutcome(winner.revision)
    }
    let mutation = try BookmarkMerge.write(
      body, of: id, onto: tree, closing: others, limit: limit, at: now)
    write(mutation)
    return RestoreOutcome(mutation.revision)
  }

  /// Bookmarks the document if it is a hotel, and removes it from the list if it is not.
  private mutating func settleList(on id: DocumentID, saying body: DocumentBody) throws {
    guard let hotel = HotelID(id.text) else { return }
    if body.type?.equalsBytes(of: Hotel.type) != true {
      unlist(hotel)
    } else if try bookmark(hotel) == nil {
      join(hotel)
    }
  }

  /// Deletes a document and removes it from the list.
  private mutating func restoreDeletion(
    of id: DocumentID, _ tree: RevisionTree, _ winner: RevisionTree.Node
  ) throws -> RestoreOutcome {
    if let hotel = HotelID(id.text) { unlist(hotel) }
    guard let mutation = try Edit.deleteAllLeaves(id, in: tree, limit: limit) else {
      return RestoreOutcome(winner.revision, isDeleted: true)
    }
    write(mutation)
    return RestoreOutcome(mutation.revision, isDeleted: true)
  }

  /// The body of a revision.
  /// - Throws: `missing`, also when the body is no longer stored.
  private func said(_ revision: RevisionID, by id: DocumentID) throws -> DocumentBody {
    guard let document = try view.revision(revision, of: id) else { throw Self.unknown }
    return try DocumentBody(parsing: document.body, limits: .stored)
  }

  private static var unknown: ServiceError {
    ServiceError(.missing, "There is no such document, or it has no such revision")
  }

  // MARK: Restoring the bookmarks of an earlier list

  /// Replaces the bookmarks by those of an earlier list. Only documents of hotels that are added or removed are
  /// read.
  private mutating func restoreList(
    _ wanted: RevisionTree.Node, _ former: BookmarkList?, over winner: RevisionTree.Node
  ) throws -> RestoreOutcome {
    guard let then = wanted.isDeleted ? BookmarkList() : former else { throw Self.unknown }
    var missing: [HotelID] = []
    try restore(FormerList(revision: wanted.revision, list: then)) { edit, going, coming in
      guard going.count + coming.count <= BookmarkLimits.restoredHotels else {
        throw ServiceError.tooLarge(
          "That list has \(coming.count) hotels more and \(going.count) fewer than now, and may differ "
            + "by \(BookmarkLimits.restoredHotels): restore a later revision first, or hotels one by one"
        )
      }
      for id in going { _ = try edit.remove(id) }
      missing = try coming.filter { try !edit.revive($0) }
      return Set(missing)
    }
    let written = try finish().mutations.last { $0.id == BookmarkList.documentID }
    return RestoreOutcome(
      written?.revision ?? winner.revision, isDeleted: written == nil && winner.isDeleted,
      missing: missing)
  }

  /// Restores the last contents of an unbookmarked hotel, with its time.
  /// - Returns: whether the hotel exists now.
  private mutating func revive(_ id: HotelID) throws -> Bool {
    switch try StoredHotel(id, in: view) {
    case .live: return true
    case .other: return false
    case .absent: break
    }
    guard let present = try view.document(id.documentID),
      let tree = try view.newest(id.documentID), let index = tree.index(of: present.revision)
    else { return false }
    for node in tree.line(at: index).prefix(StoreLimits.storedAncestors + 1)
    where !node.isDeleted {
      guard let bytes = try view.body(id.documentID, of: node, in: tree),
        let body = try? DocumentBody(parsing: bytes, limits: .stored),
        body.type?.equalsBytes(of: Hotel.type) == true
      else { continue }
      _ = try put(id, body, base: nil, created: present.created)
      return true
    }
    return false
  }
}
