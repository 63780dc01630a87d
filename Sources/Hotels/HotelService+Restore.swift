package import Documents
package import Stores

/// What to bring back of a document.
package struct RestoreRequest: Sendable, Equatable {
  /// The revision that is to come back.
  package let revision: RevisionID
  /// The revision that stood for the document when that was decided; nil for whichever does now.
  package let base: RevisionID?

  /// A request.
  package init(revision: RevisionID, base: RevisionID? = nil) {
    self.revision = revision
    self.base = base
  }
}

/// What bringing a revision back has come to.
package struct RestoreOutcome: Sendable, Equatable {
  /// The revision that was made, or the one that stood for the document before where nothing was to be changed.
  package let revision: RevisionID
  /// Whether it is a tombstone.
  package let isDeleted: Bool
  /// Of a list: the hotels that were on it and did not come back, for what they said is no longer kept.
  package let missing: [HotelID]

  init(_ revision: RevisionID, isDeleted: Bool = false, missing: [HotelID] = []) {
    self.revision = revision
    self.isDeleted = isDeleted
    self.missing = missing
  }
}

extension HotelService {
  /// Brings an earlier revision of a document back as a new one, in one update. Whatever the document says now goes to
  /// its history, its conflicting revisions too. What it says already is not written again.
  ///
  /// A hotel comes back with its bookmark, and a document that is no hotel any more leaves the list. To restore the
  /// list is to have the bookmarks of then, in their order: hotels that were bookmarked since are unbookmarked, those
  /// that were unbookmarked come back as they were last, and those that stayed say what they say now. A deletion that
  /// is restored deletes; of the list it leaves none of the bookmarks.
  /// - Throws: `missing` for an unknown document or revision, and for one whose body is not kept; `conflict` where
  ///   `base` does not stand for the document any more, and for a list that was merged into the canonical one;
  ///   `precondition`; `forbidden` for a design document; `tooLarge` for a list that differs by more than
  ///   ``BookmarkLimits/restoredHotels``; `quotaExceeded`; `store`.
  package func restore(
    _ request: RestoreRequest, of id: DocumentID, in name: StoreName,
    condition: RevisionCondition = .none
  ) async throws -> RestoreOutcome {
    guard !id.isDesign else {
      throw ServiceError(
        .forbidden, "A design document can't be restored: write what it said anew under /couch")
    }
    let outcome = try await run(name, creating: false) { store in
      try await store.change([id], at: now()) { edit in
        try edit.restore(request, of: id, condition)
      }
    }
    guard let outcome else { throw ServiceError.absent }
    return outcome
  }
}
