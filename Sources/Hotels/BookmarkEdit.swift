import Documents
import Stores

/// A change of a store's bookmarks that is being prepared: pure, over one state of the store. The list and the
/// hotels' documents change together.
struct BookmarkEdit {
  /// The state of the store.
  let view: any StoreView
  /// The time of new bookmarks.
  let now: Timestamp
  /// Local documents to write in the same transaction.
  var locals: [LocalEdit] = []
  /// Documents that lose bodies of their ancestors.
  var forgotten: [ForgottenBodies] = []
  /// Attachments that bodies of another store name.
  var attachments: [NewAttachment] = []
  /// The bytes that new attachments have.
  var attached: [AttachedRevision: [AttachmentName: AttachmentContent]] = [:]
  /// How much history documents keep.
  let limit: HistoryLimits
  private let lists: ListReconciliation
  private var mutations: [Mutation] = []
  private var listChange = ListChange()
  /// What the update knows of the list that the edit will leave.
  private let preparation: Preparation

  enum Preparation {
    /// It may be made here, if it is short or, if `always`, in any case.
    case needless(always: Bool)
    /// It is long, and made before the update.
    case needed(PreparedList?)
  }

  /// An edit that changes nothing yet.
  /// - Parameter limit: how much history to keep.
  /// - Parameter lists: the lists of this state of the store.
  init(
    _ view: any StoreView, now: Timestamp, limit: HistoryLimits, lists: ListReconciliation,
    _ preparation: Preparation
  ) {
    self.preparation = preparation
    self.view = view
    self.now = now
    self.limit = limit
    self.lists = lists
  }

  /// The list as it was before this edit.
  var list: BookmarkList { lists.list }

  /// A bookmark as it was before this edit.
  func bookmark(_ id: HotelID) throws -> Bookmark? { try list.bookmark(id, in: view) }

  /// The revision of a bookmark as it was before this edit; nil for a hotel that was not bookmarked.
  func revision(of id: HotelID) throws -> RevisionID? { try bookmark(id)?.revision }

  /// One of the service's own local documents; nil when absent or expired.
  func local(_ id: LocalID) throws -> LocalDocument? { try view.local(id) }

  /// Bookmarks a hotel: puts its document and, when it was not bookmarked, its id at the end of the list.
  ///
  /// If the hotel is bookmarked already, given facts replace its document; without given facts, only the upstream's
  /// changes are merged in. What the upstream says is stored either way; see ``FactsNote``.
  /// - Parameter addition: from ``HotelAddition/prepared()``.
  /// - Throws: `occupied`; `unknownHotel`; `store`.
  mutating func add(_ addition: HotelAddition) throws -> BookmarkOutcome {
    let id = addition.id
    let stored = try StoredHotel(id, in: view)
    switch stored {
    case .other: throw ServiceError(.occupied, "A document that is no hotel has the id \(id)")
    case .absent:
      guard let body = addition.body else { throw addition.isUnknown }
      join(id)
      try note(addition)
      let bookmark = try put(id, body, base: nil, created: now)
      return BookmarkOutcome(effect: .created, bookmark: bookmark)
    case .live(let former):
      let isNew = !list.contains(id)
      if isNew { join(id) }
      let body = try body(of: addition, over: former)
      try note(addition)
      let changed = try body.map { body in
        try put(id, body, base: former.revision, created: former.bookmarkedAt)
      }
      let effect: BookmarkOutcome.Effect =
        changed == nil ? .unchanged : addition.replaces ? .replaced : .updated
      return BookmarkOutcome(effect: isNew ? .created : effect, bookmark: changed ?? former)
    }
  }

  /// A hotel document's new body; nil when it does not change.
  private func body(of addition: HotelAddition, over former: Bookmark) throws -> DocumentBody? {
    guard addition.replaces else {
      guard let shown = addition.shown else { return nil }
      return try FactsNote.followed(shown, from: former, in: view)
    }
    // Given facts say nothing of attachments, which other clients have added.
    let attachments = DocumentBody.attachments(in: former.hotel)?.stubs ?? []
    guard let body = try addition.body?.with(attachments) else { return nil }
    let present = try DocumentBody(parsing: former.hotel, limits: .request)
    return present.digest == body.digest ? nil : body
  }

  /// Stores what the upstream says of a hotel. With given facts, which may be older, an earlier note is kept.
  private mutating func note(_ addition: HotelAddition) throws {
    guard let shown = addition.shown else { return }
    let edit = try FactsNote.edit(
      shown.body.bytes, of: addition.id, replaces: !addition.replaces, in: view)
    if let edit { locals.append(edit) }
  }

  /// Adopts another store's bookmark with its time. If the hotel has a live document here, the two are joined. If a
  /// document that is no hotel has its id here, the hotel becomes a conflicting revision of that document.
  /// - Parameter facts: what the upstream said of the hotel, as stored in the other store; see ``FactsNote``.
  /// - Parameter union: joins the hotel with the one that is here.
  /// - Returns: what was adopted, and whether it is a new bookmark here; nil when nothing was.
  mutating func adopt(
    _ bookmark: Bookmark, noted facts: [UInt8]?, joining union: (Bookmark) throws -> HotelUnion?
  ) throws -> (came: AdoptionReceipt.Came, isBookmark: Bool)? {
    let id = bookmark.id
    let stored = try StoredHotel(id, in: view)
    switch stored {
    case .other:
      let body = try DocumentBody(parsing: bookmark.hotel, limits: .request)
      let revision = CarriedStore.Revision(
        id: id.documentID, history: [bookmark.revision], body: body)
      guard case .taken(let taken) = try take(revision, isAgain: true) else { return nil }
      let reference = AdoptionReceipt.Reference(id: id.documentID, revision: taken)
      return (AdoptionReceipt.Came(reference: reference), false)
    case .live(let present):
      let isListedOnly = !list.contains(id)
      if isListedOnly { join(id) }
      if let union = try union(present), let joined = try put(union, over: present) {
        let came = AdoptionReceipt.Came(
          reference: joined.reference, isListedOnly: isListedOnly, joined: joined.revisions)
        return (came, isListedOnly)
      }
      guard isListedOnly else { return nil }
      let reference = AdoptionReceipt.Reference(id: id.documentID, revision: present.revision)
      return (AdoptionReceipt.Came(reference: reference, isListedOnly: true), true)
    case .absent:
      let body = try DocumentBody(parsing: bookmark.hotel, limits: .request)
      join(id)
      let note = try facts.flatMap { facts in
        try FactsNote.edit(facts, of: id, replaces: false, in: view)
      }
      if let note { locals.append(note) }
      let new = try put(id, body, base: nil, created: bookmark.bookmarkedAt)
      let reference = AdoptionReceipt.Reference(id: id.documentID, revision: new.revision)
      return (AdoptionReceipt.Came(reference: reference), true)
    }
  }

  /// Puts a hotel that was joined with another store's, after that one if it says something else.
  /// - Returns: nil when the document can get no further revision.
  private mutating func put(
    _ union: HotelUnion, over present: Bookmark
  ) throws -> (reference: AdoptionReceipt.Reference, revisions: AdoptionReceipt.Joined)? {
    let id = present.id.documentID
    var edits = DocumentEdits(id, in: try view.newest(id), limit: limit)
    do {
      var guests: RevisionID?
      if let ancestor = union.ancestor {
        guests = try edits.put(base: present.revision, body: ancestor, isDeleted: false)
      }
      let revision = try edits.put(
        base: guests ?? present.revision, body: union.body, isDeleted: false)
      guard let mutation = edits.finish() else { return nil }
      mutations.append(mutation)
      return (
        AdoptionReceipt.Reference(id: id, revision: revision),
        AdoptionReceipt.Joined(former: present.revision, guests: guests)
      )
    } catch {
      guard error.code == .invalidRevision else { throw error }
      return nil
    }
  }

  /// The result of copying a revision.
  enum Taken {
    /// The revision was copied, or its contents came back as this revision.
    case taken(RevisionID)
    /// The store has the revision, or has purged it.
    case known
    /// The document has too many conflicting revisions to take it.
    case refused
  }

  /// Copies another store's revision unchanged, unless it is known here.
  /// - Parameter isAgain: whether the revision may have come before and been removed by an undo. Its contents then come
  ///   back after the tombstone.
  mutating func take(_ revision: CarriedStore.Revision, isAgain: Bool = false) throws -> Taken {
    let (id, history) = (revision.id, revision.history)
    let tree = try view.tree(id)
    guard let newest = history.first else { return .known }
    if let tree, tree[newest] != nil {
      let leaves = tree.leaves(below: newest)
      guard isAgain, let leaf = leaves.first, leaves.allSatisfy(\.isDeleted) else { return .known }
      // After the tombstone.
      let body = try following(nil, revision.body, of: id, tree)
      let mutation = try Edit.put(id, in: tree, base: leaf.revision, body: body, limit: limit)
      mutations.append(mutation)
      return .taken(mutation.revision)
    }
    let purged = try PurgeMarks(view).of(id)
    guard !purged.knows(newest) else { return .known }
    do {
      let mutation = try Edit.insert(
        id, in: tree, history: history, body: revision.body, isDeleted: false, known: nil,
        limit: limit)
      guard let mutation else { return .known }
      mutations.append(mutation)
      return .taken(newest)
    } catch {
      guard error.code == .tooManyLeaves else { throw error }
      return .refused
    }
  }

  /// Gives the list's document the members that an app has added to another store's list, if it has none of their names.
  /// - Returns: these members, an object; nil for none, and if they are too long, or would take the room of the other
  ///   list's ids.
  mutating func takeMembers(of other: [UInt8]) throws -> [UInt8]? {
    let own = try lists.former ?? BookmarkList().text(replacing: nil)
    guard own.count + other.count <= BookmarkLimits.listBytes else { return nil }
    var members = ListChange.Members()
    let missing = HotelFacts.merged(into: members.facts, former: own, facts: other)
    guard let missing, missing.bytes.count <= BookmarkLimits.hotelBytes else { return nil }
    members.facts = missing.bytes
    listChange.members = members
    return missing.bytes
  }

  /// Removes members from the list's document, but for those that have changed since.
  mutating func removeMembers(_ members: [UInt8]) {
    listChange.members = ListChange.Members(former: members)
  }

  /// Appends ids to the list. Those that are on it keep their positions.
  mutating func list(_ ids: some Sequence<HotelID>) { listChange.joining += ids }

  /// Unbookmarks a hotel: its id leaves the list, and its document gets a tombstone on every live leaf. An id whose
  /// hotel has not arrived leaves the list too.
  /// - Returns: the bookmark's revision and the tombstone's; nil when the hotel was not bookmarked.
  mutating func remove(_ id: HotelID) throws -> (former: RevisionID, tombstone: RevisionID)? {
    guard list.contains(id) else { return nil }
    listChange.leaving.insert(id)
    guard let former = try revision(of: id), let tree = try view.newest(id.documentID),
      let mutation = try Edit.deleteAllLeaves(id.documentID, in: tree, limit: limit)
    else { return nil }
    mutations.append(mutation)
    return (former, mutation.revision)
  }

  /// The edit's mutations, hotels in the order of the calls and then the lists, and how many ids of merged lists
  /// did not fit.
  /// - Throws: `quotaExceeded` when bookmarking makes the list longer than ``BookmarkLimits/listBytes``;
  ///   ``PreparedList/Missing``; ``StoredLists/IsLong``.
  func finish() throws -> (mutations: [Mutation], leftOut: Int) {
    if lists.isSettled, listChange.isNone { return (mutations, 0) }
    let changed = try changedList()
    let written = try lists.mutations(writing: changed.body, limit: limit, at: now)
    return (mutations + written, changed.leftOut)
  }

  /// The positions that these ids had, relative to neighbours that stay in the list.
  /// - Throws: ``PreparedList/Missing``.
  mutating func positions(of ids: Set<HotelID>) throws -> [HotelID: BookmarkPosition] {
    guard case .needed = preparation, !ids.isEmpty else {
      return list.positions(of: ids, leaving: listChange.leaving, in: list.hotels.indices)
    }
    listChange.located = ids
    return try changedList().positions
  }

  /// Lets the bookmarks of a former list return, but for those whose hotels can't, and the present ones that it does not
  /// have leave.
  /// - Parameter settle: changes the hotels that go and come, and returns those that can't come.
  /// - Throws: ``PreparedList/Missing``; ``StoredLists/IsLong``.
  mutating func restore(
    _ former: FormerList,
    _ settle: (inout BookmarkEdit, _ going: [HotelID], _ coming: [HotelID]) throws -> Set<HotelID>
  ) throws {
    let change = ListChange(former: former)
    let difference: (going: [HotelID], coming: [HotelID])
    switch preparation {
    case .needed(let prepared):
      guard let prepared, prepared.change.former?.revision == former.revision else {
        throw PreparedList.Missing(change: change)
      }
      difference = prepared.difference
    case .needless(let always):
      guard always || former.list.hotels.count <= PreparedList.shortCount else {
        throw StoredLists.IsLong()
      }
      difference = (list.subtracting(former.list), former.list.subtracting(list))
    }
    let missing = try settle(&self, difference.going, difference.coming)
    listChange = change
    listChange.former?.missing = missing
  }

  /// The list that the edit leaves.
  private func changedList() throws -> ChangedList {
    guard case .needed(let prepared) = preparation else {
      if case .needless(always: false) = preparation,
        listChange.joining.count > PreparedList.shortCount
      {
        throw StoredLists.IsLong()
      }
      var changed = ChangedList(lists, listChange)
      while try !changed.advance() {}
      return changed
    }
    guard let prepared, prepared.change == listChange else {
      throw PreparedList.Missing(change: listChange)
    }
    return try prepared.made()
  }

  /// Puts an id at the end of the list, because the new bookmark is the newest. An id that was in the list without
  /// its hotel moves to the end.
  mutating func join(_ id: HotelID) {
    listChange.leaving.insert(id)
    listChange.joining.append(id)
  }

  /// Removes an id from the list. The caller changes the hotel's document.
  mutating func unlist(_ id: HotelID) { listChange.leaving.insert(id) }

  /// Puts a bookmark at its former position in the list.
  mutating func putBack(_ id: HotelID, at position: BookmarkPosition) {
    listChange.returning.append(ListChange.Returning(id: id, position: position))
  }

  /// Records a document's next state.
  mutating func write(_ mutation: Mutation) { mutations.append(mutation) }

  /// Puts a hotel's document.
  mutating func put(
    _ id: HotelID, _ body: DocumentBody, base: RevisionID?, created: Timestamp
  ) throws -> Bookmark {
    let tree = try view.newest(id.documentID)
    let former = try view.former(id.documentID, tree)
    let body = try following(base, body, of: id.documentID, tree)
    var mutation = try Edit.put(
      id.documentID, in: tree, base: base, after: former, body: body, limit: limit)
    mutation.created = created
    mutations.append(mutation)
    return Bookmark(id: id, revision: mutation.revision, bookmarkedAt: created, hotel: body.bytes)
  }

  /// A body that was read elsewhere, as the body of the next revision of a document; see
  /// ``DocumentBody/following(_:generation:)``.
  /// - Parameter base: the live revision before it; nil for none.
  func following(
    _ base: RevisionID?, _ body: DocumentBody, of id: DocumentID, _ tree: RevisionTree?
  ) throws -> DocumentBody {
    guard DocumentBody.hasAttachments(body.bytes) else { return body }
    let former = base?.generation ?? tree?.leaves.map(\.revision.generation).max()
    return try body.following(base.flatMap { try view.body(id, $0) }, generation: (former ?? 0) + 1)
  }
}
