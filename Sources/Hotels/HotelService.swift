package import Documents
import Scheduling
package import Stores

/// The use cases of bookmarks, over any store. The rules are in ``BookmarkEdit``. The service runs each rule in one
/// update, so that the list and the hotels' documents never disagree.
///
/// A separate update merges a list with conflicting revisions, or several lists. The merge depends on the revisions
/// alone, so that every replica makes the same revision. It follows the commit that brought the conflict, whichever API
/// that commit came through (``BookmarkMerge/follower(now:)``). When it fails there, it runs before the next change of
/// bookmarks. Readers see the merged list in any case.
package struct HotelService: Sendable {
  let stores: DatabaseManager
  let now: @Sendable () -> Timestamp

  /// A service over all stores.
  /// - Parameter now: the clock for the times of bookmarks; the same as the stores' clock.
  package init(stores: DatabaseManager, now: @escaping @Sendable () -> Timestamp) {
    self.stores = stores
    self.now = now
  }

  /// Bookmarks a hotel. If the hotel is bookmarked already, given facts replace its document; without given facts,
  /// only the upstream's changes are merged in. Idempotent: the same facts again write nothing. A hotel that was
  /// unbookmarked continues from its tombstone.
  /// - Throws: `precondition`, `invalidDocument`, `tooLarge`, `occupied`, `unknownHotel`, `store`.
  package func bookmark(
    _ addition: HotelAddition, in name: StoreName, condition: RevisionCondition = .none,
    as context: WriteContext, answer: Answering<BookmarkOutcome>? = nil
  ) async throws -> BookmarkOutcome {
    let id = addition.id
    let addition = try addition.prepared()
    let mayCreate = (condition == .none || condition == .absent) && addition.body != nil
    let outcome = try await change(name, creating: mayCreate, [id], as: context, answer: answer) {
      edit in
      try condition.check(try edit.revision(of: id))
      return try edit.add(addition)
    }
    guard let outcome else {
      try condition.check(nil)
      throw addition.isUnknown
    }
    return outcome
  }

  /// Unbookmarks a hotel: puts a tombstone on its document and removes its id from the list.
  /// - Returns: the tombstone's revision; nil when the hotel was not bookmarked.
  /// - Throws: `precondition`, `store`.
  package func unbookmark(
    _ id: HotelID, in name: StoreName, condition: RevisionCondition = .none,
    as context: WriteContext, answer: Answering<RevisionID?>? = nil
  ) async throws -> RevisionID? {
    let outcome = try await change(name, creating: false, [id], as: context, answer: answer) {
      edit in
      try condition.check(try edit.revision(of: id))
      return try edit.remove(id)?.tombstone
    }
    if outcome == nil { try condition.check(nil) }
    return outcome ?? nil
  }

  /// Runs a rule over a store's bookmarks in one update, after lists are merged.
  /// - Parameter creating: whether to create an absent store.
  /// - Returns: nil for an absent store that is not created.
  func change<Value: Sendable>(
    _ name: StoreName, creating: Bool, _ hotels: some Sequence<HotelID>, as context: WriteContext,
    answer: Answering<Value>? = nil, _ rule: @escaping BookmarkRule<Value>
  ) async throws -> Value? {
    let (ids, now) = (Set(hotels.map(\.documentID)), now())
    // A shared list's store is created with the list. A write that created it would bring back a list that was just
    // deleted.
    let isList = if case .list = name { true } else { false }
    let value = try await stores.withStore(name, creating: creating && !isList) { store in
      try await store?.change(ids, at: now, as: context, answer: answer, rule)
    }
    if isList, value == nil { throw ServiceError.absent }
    return value
  }

  // MARK: The mirror: a full copy once, then only the changes

  /// What a client's copy lacks.
  /// - Parameter token: the copy's position; nil for none.
  /// - Returns: nil when the copy can't continue from the token and must start again without one.
  /// - Throws: `store`.
  package func mirror(of name: StoreName, since token: MirrorToken?) async throws -> MirrorPage? {
    let outcome = try await stores.read(name, inSlices: MirrorReader(since: token)) {
      reader, view in try reader.read(view)
    }
    switch outcome {
    case .page(let page)?: return page
    case .outdated?: return nil
    case nil: return token.map { $0.sequence == 0 } ?? true ? .nothing : nil
    }
  }

  /// All bookmarked hotels, newest first, for a search among them.
  /// - Throws: `store`.
  package func allBookmarks(in name: StoreName) async throws -> [Hotel] {
    let bookmarks =
      try await stores.read(name, inSlices: ListedHotels(nil)) { hotels, view in
        try hotels.read(view) ? hotels.found.all : nil
      } ?? []
    var hotels: [Hotel] = []
    for bookmark in bookmarks {
      if let body = try? DocumentBody(parsing: bookmark.hotel) {
        hotels.append(Hotel(id: bookmark.id, body: body))
      }
      try await Slice.giveWay()
    }
    return hotels
  }

  // MARK: Bringing an upstream's newer facts into bookmarks in the background

  /// Takes hotels that an upstream has just returned. Writes a new revision of each that is bookmarked and whose
  /// facts have changed since the last note; see ``FactsNote``. Stores what the upstream said, so that the next
  /// change can be told from the person's own. The first time it only stores the note, because it can't know yet
  /// which members of the bookmark are the person's.
  ///
  /// A hotel with conflicting revisions is not changed until they are resolved.
  /// - Returns: how many bookmarks were changed.
  /// - Throws: `store`. The call can be repeated at any time.
  @discardableResult
  package func refresh(_ shown: [Hotel], in name: StoreName) async throws -> Int {
    let bookmarked = try await bookmarked(among: shown.map(\.id), in: name)
    let hotels = shown.filter { bookmarked.contains($0.id) }
    guard !hotels.isEmpty else { return 0 }
    return try await stores.updateIfPresent(
      name, loading: Set(hotels.map(\.id.documentID)), as: .server
    ) { changes in
      for hotel in hotels { try Self.refresh(hotel, in: &changes) }
      return changes.mutations.count
    } ?? 0
  }

  private static func refresh(_ hotel: Hotel, in changes: inout StoreChanges) throws {
    let view = changes.view
    guard case .live(let bookmark) = try StoredHotel(hotel.id, in: view),
      let note = try FactsNote.edit(hotel.body.bytes, of: hotel.id, in: view)
    else { return }
    changes.write(note)
    guard let body = try FactsNote.followed(hotel, from: bookmark, in: view) else { return }
    try changes.put(hotel.id.documentID, base: bookmark.revision, body: body)
  }

  /// Changes several bookmarks in one update: all or nothing. The exception are steps of an undo whose hotel has
  /// changed since; they are skipped.
  /// - Throws: `invalidDocument`, `tooLarge`, `occupied`, `unknownHotel`, `store`.
  package func change(
    _ batch: BookmarkBatch, in name: StoreName, as context: WriteContext,
    answer: Answering<BatchAnswer>? = nil
  ) async throws -> BatchAnswer {
    let batch = try batch.prepared()
    let mayCreate = batch.add.contains { $0.body != nil }
    let outcome = try await change(
      name, creating: mayCreate, batch.ids, as: context, answer: answer
    ) { edit in
      try edit.change(batch)
    }
    if outcome == nil, let unknown = batch.add.first { throw unknown.isUnknown }
    return outcome ?? BatchAnswer(absentStore: batch)
  }

  /// One bookmark; nil when the hotel is not bookmarked.
  /// - Throws: `store`.
  package func bookmark(_ id: HotelID, in name: StoreName) async throws -> Bookmark? {
    try await stores.withStore(name, creating: false) { store in
      guard let store else { return nil }
      let isListed = try await store.readInline { view in
        try BookmarkList.isListed(id, in: view).map { try $0 ? Bookmark(id, in: view) : nil }
      }
      if let isListed { return isListed }
      return try await store.read(inSlices: ListReader()) { lists, view in
        try lists.read(view).map { try $0.list.bookmark(id, in: view) }
      }
    }
  }

  /// Bookmarks, newest first; none for an absent store.
  /// - Parameters:
  ///   - limit: 1 to ``BookmarkLimits/pageItems``; clipped.
  ///   - cursor: where the previous page ended; nil for the first page.
  /// - Throws: `store`.
  package func bookmarks(
    in name: StoreName, limit: Int, after cursor: BookmarkCursor? = nil
  ) async throws -> BookmarkPage {
    try await stores.read(name, inSlices: BookmarkPageReader(limit: limit, after: cursor)) {
      reader, view in try reader.read(view)
    } ?? BookmarkPage(bookmarks: [], next: nil, tag: StoreInfo.absentTag)
  }

  /// Which of these hotels are bookmarked. Used for a page of search results.
  /// - Throws: `store`.
  package func bookmarked(among ids: [HotelID], in name: StoreName) async throws -> Set<HotelID> {
    guard !ids.isEmpty else { return [] }
    return try await stores.read(name, inSlices: ListedHotels(ids)) {
      hotels, view in
      try hotels.read(view) ? Set(hotels.found.all.map(\.id)) : nil
    } ?? []
  }

  /// A strong entity-tag, without quotation marks, that changes with every commit of the store (RFC 9110 section
  /// 8.8.3). Costs one cheap read.
  /// - Throws: `store`.
  package func tag(in name: StoreName) async throws -> String {
    try await stores.read(name) { view in try view.info().tag } ?? StoreInfo.absentTag
  }

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

extension MirrorPage {
  /// The page of an absent store.
  static let nothing = MirrorPage(
    token: .absent, isReset: true, hasMore: false, hotels: [], removed: [], order: [])
}

extension BatchAnswer {
  /// The answer for an absent store to a batch that adds nothing.
  fileprivate init(absentStore batch: BookmarkBatch) {
    results =
      batch.remove.map { Item(id: $0, status: 404) }
      + batch.restore.map { Item(id: $0.id, status: 409) }
  }
}

extension StoreInfo {
  /// The entity-tag of this state: the store's epoch and last sequence number.
  var tag: String { "\(epoch)-\(lastSequence)" }
  /// The entity-tag of a store that does not exist.
  fileprivate static let absentTag = "none-0"
}

extension BookmarkList {
  /// The bookmark of a hotel that is on the list; nil for any other hotel, and for one without a live document.
  func bookmark(_ id: HotelID, in view: any StoreView) throws -> Bookmark? {
    contains(id) ? try Bookmark(id, in: view) : nil
  }

  /// Whether a hotel is on the list: a fast path for a request about one hotel. It only checks the list's history
  /// for conflicts and does not copy the ids.
  /// - Returns: nil when the fast path does not apply: several lists, conflicts, a list of more than 16 KiB, or no
  ///   list.
  fileprivate static func isListed(_ id: HotelID, in view: any StoreView) throws -> Bool? {
    let lists = try view.changes(ofType: type, after: 0, limit: 2)
    guard lists.count == 1, lists[0].id == documentID,
      let document = try view.document(documentID), document.body.count <= 16_384,
      try view.newest(documentID)?.liveLeaves.count == 1,
      let list = try? ParsedJSON(document.body, limits: .request)
    else { return nil }
    return list.root["hotels"]?.elements.contains { HotelID(entry: $0) == id } ?? false
  }
}

extension Bookmark {
  /// The bookmark of a listed hotel; nil when its document is not live or not a hotel.
  fileprivate init?(_ id: HotelID, in view: any StoreView) throws {
    guard case .live(let bookmark) = try StoredHotel(id, in: view) else { return nil }
    self = bookmark
  }
}
