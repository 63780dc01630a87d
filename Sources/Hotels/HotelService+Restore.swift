package import Documents
package import Stores

extension HotelService {
  /// Restores an earlier revision of a document as a new one, in one update. The present contents stay in the
  /// history, also those of conflicting revisions. Contents that the document has already are not written again.
  ///
  /// A restored hotel is bookmarked again. A document that is not a hotel after the restore leaves the list.
  /// Restoring the list restores its bookmarks in their order: hotels that were bookmarked since are unbookmarked,
  /// hotels that were unbookmarked since get their last contents back, and the others keep their present contents.
  /// Restoring a deletion deletes the document; for the list, it removes all bookmarks.
  /// - Throws: `missing` for an unknown document or revision, and for one whose body is not stored; `conflict` when
  ///   `base` is not the winner any more, for a list that was merged into the canonical one, and for a tombstone of
  ///   another branch than the winner's; `precondition`; `forbidden` for a design document, and for a deletion of a
  ///   shared list's own document; `tooLarge` for a list that differs by more than
  ///   ``BookmarkLimits/restoredHotels``; `quotaExceeded`; `store`.
  package func restore(
    _ request: RestoreRequest, of id: DocumentID, in name: StoreName,
    condition: RevisionCondition = .none, as context: WriteContext,
    answer: Answering<RestoreOutcome>? = nil
  ) async throws -> RestoreOutcome {
    guard !id.isDesign else {
      throw ServiceError(
        .forbidden, "A design document can't be restored; write its former content under /couch")
    }
    let isFixed =
      if case .list(let list) = name { id.text.equalsBytes(of: list.text) } else { false }
    let outcome = try await stores.withStore(name, creating: false) { store in
      guard let store else { return RestoreOutcome?.none }
      let former = id == BookmarkList.documentID ? try await store.list(request.revision) : nil
      return try await store.change([id], at: now(), as: context, answer: answer) { edit in
        try edit.restore(request, of: id, isFixed: isFixed, saying: former, condition)
      }
    }
    guard let outcome else { throw ServiceError.absent }
    return outcome
  }
}
