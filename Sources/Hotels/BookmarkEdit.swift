import Documents
import JSON
import Stores

/// One change of a store's bookmarks in the making: pure, over one state of the store. The list and the
/// hotels' documents change together.
struct BookmarkEdit {
  /// The state of the store.
  let view: any StoreView
  /// The moment that new bookmarks are stamped with.
  let now: Timestamp
  /// Local documents to write in the same transaction.
  var locals: [LocalEdit] = []
  /// Documents that are to keep the bodies of their leaves alone.
  var withoutHistory: [DocumentID] = []
  /// How much history documents keep.
  let limit: HistoryLimits
  private let lists: ListReconciliation
  private var mutations: [Mutation] = []
  /// Ids that leave their places.
  private(set) var leaving: Set<HotelID> = []
  private var joining: [HotelID] = []
  /// Bookmarks that come back to the places where they were.
  var returning: [(id: HotelID, place: BookmarkPlace)] = []

  /// An edit that changes nothing yet.
  /// - Parameter limit: how much history to keep.
  init(_ view: any StoreView, now: Timestamp, limit: HistoryLimits) throws {
    self.view = view
    self.now = now
    self.limit = limit
    self.lists = try ListReconciliation(view)
  }

  /// Whether one list document holds all bookmarks, without conflicts.
  var isSettled: Bool { lists.isSettled }

  /// The list as it was before this edit.
  var list: BookmarkList { lists.list }

  /// A bookmark as it was before this edit.
  func bookmark(_ id: HotelID) throws -> Bookmark? {
    try list.bookmark(id, in: view)
  }

  /// The revision of a bookmark as it was before this edit; nil for a hotel that was not bookmarked.
  func revision(of id: HotelID) throws -> RevisionID? {
    try bookmark(id)?.revision
  }

  /// One of the service's own notes; nil when absent or past its time.
  func local(_ id: LocalID) throws -> LocalDocument? {
    try view.local(id)
  }

  /// Bookmarks a hotel: puts its document and, when it was not bookmarked, its id at the end of the list.
  ///
  /// Of a hotel that is bookmarked already, given facts take the place of what its document says; without any, only
  /// what the upstream has changed comes in. What the upstream says is noted either way; see ``FactsNote``.
  /// - Parameter addition: ``HotelAddition/prepared()``.
  /// - Throws: `occupied`; `unknownHotel`; `store`.
  mutating func add(_ addition: HotelAddition) throws -> BookmarkOutcome {
    let id = addition.id
    let stored = try StoredHotel(id, in: view)
    switch stored {
    case .other:
      throw ServiceError(.occupied, "A document that is no hotel has the id \(id)")
    case .absent:
      guard let body = addition.body else { throw addition.isUnknown }
      join(id)
      try note(addition)
      return .created(try put(id, body, base: nil, created: now))
    case .live(let former):
      let isNew = !list.contains(id)
      if isNew { join(id) }
      let body = try body(of: addition, over: former)
      try note(addition)
      guard let body else { return isNew ? .created(former) : .unchanged(former) }
      let bookmark = try put(id, body, base: former.revision, created: former.bookmarkedAt)
      if isNew { return .created(bookmark) }
      return addition.replaces ? .replaced(bookmark) : .updated(bookmark)
    }
  }

  /// What a hotel's document is to say instead of what it says; nil for the same.
  private func body(
    of addition: HotelAddition, over former: Bookmark
  ) throws -> DocumentBody? {
    guard addition.replaces else {
      guard let shown = addition.shown else { return nil }
      return try FactsNote.followed(shown, from: former, in: view)
    }
    guard let body = addition.body else { return nil }
    let present = try DocumentBody(parsing: former.hotel, limits: .request)
    return present.digest == body.digest ? nil : body
  }

  /// Notes what the upstream says of a hotel. Given facts may be older than that: they are compared to an earlier
  /// note where there is one.
  private mutating func note(_ addition: HotelAddition) throws {
    guard let shown = addition.shown else { return }
    let edit = try FactsNote.edit(
      shown.body.bytes, of: addition.id, replaces: !addition.replaces, in: view)
    if let edit { locals.append(edit) }
  }

  /// Takes another store's bookmark over, with its time, unless the hotel is bookmarked here. A live
  /// document of the hotel stays as it is.
  /// - Parameter facts: what the upstream said of the hotel, as noted there; see ``FactsNote``.
  /// - Returns: what came; nil where there is no new bookmark.
  mutating func adopt(
    _ bookmark: Bookmark, noted facts: [UInt8]?
  ) throws -> AdoptionReceipt.Came? {
    let id = bookmark.id
    let stored = try StoredHotel(id, in: view)
    switch stored {
    case .other: return nil
    case .live(let present):
      guard !list.contains(id) else { return nil }
      join(id)
      let place = AdoptionReceipt.Place(id: id.documentID, revision: present.revision)
      return AdoptionReceipt.Came(place: place, isListedOnly: true)
    case .absent:
      let body = try DocumentBody(parsing: bookmark.hotel, limits: .request)
      join(id)
      let note = try facts.flatMap { facts in
        try FactsNote.edit(facts, of: id, replaces: false, in: view)
      }
      if let note { locals.append(note) }
      let new = try put(id, body, base: nil, created: bookmark.bookmarkedAt)
      return AdoptionReceipt.Came(
        place: AdoptionReceipt.Place(id: id.documentID, revision: new.revision))
    }
  }

  /// What taking a revision over came to.
  enum Taken {
    /// It came.
    case taken
    /// It was here, or had been.
    case known
    /// The document has too many conflicting revisions to take it.
    case refused
  }

  /// Takes another store's revision over as it is; nothing when it is known here.
  mutating func take(_ revision: CarriedStore.Revision) throws -> Taken {
    let (id, history) = (revision.id, revision.history)
    let tree = try view.tree(id)
    guard let newest = history.first, tree?[newest] == nil else { return .known }
    let purged = try PurgeMarks(view).of(id)
    guard !purged.knows(newest) else { return .known }
    do {
      let mutation = try Edit.insert(
        id, in: tree, history: history, body: revision.body, isDeleted: false, known: nil,
        limit: limit)
      guard let mutation else { return .known }
      mutations.append(mutation)
      return .taken
    } catch  where error.code == .tooManyLeaves {
      return .refused
    }
  }

  /// Puts stored hotels on the list that are on none.
  mutating func list(_ ids: [HotelID]) {
    for id in ids where !lists.list.contains(id) { joining.append(id) }
  }

  /// Unbookmarks a hotel: its id leaves the list, its document gets a tombstone on every live leaf. An id
  /// that still waits for its hotel leaves the list too.
  /// - Returns: the tombstone's revision; nil when the hotel was not bookmarked.
  mutating func remove(_ id: HotelID) throws -> RevisionID? {
    guard list.contains(id) else { return nil }
    leaving.insert(id)
    guard try bookmark(id) != nil, let tree = try view.newest(id.documentID),
      let mutation = try Edit.deleteAllLeaves(id.documentID, in: tree, limit: limit)
    else { return nil }
    mutations.append(mutation)
    return mutation.revision
  }

  /// The edit's mutations: hotels in the order of the calls, then the lists; and how many ids of merged lists found no
  /// room in the one that is written.
  /// - Throws: `quotaExceeded` when bookmarking makes the list longer than ``BookmarkLimits/listBytes``.
  func finished() throws -> (mutations: [Mutation], leftOut: Int) {
    var next = lists.list
    next.remove(leaving)
    if !returning.isEmpty { next.insert(returning) }
    next.append(joining)
    let fitting = lists.fitting(next)
    let leftOut = next.hotels.count - fitting.hotels.count
    let written = try lists.mutations(writing: fitting, limit: limit, at: now)
    if !joining.isEmpty || !returning.isEmpty,
      leftOut > 0 || (written.first?.body?.bytes.count ?? 0) > BookmarkLimits.listBytes
    {
      throw ServiceError(
        .quotaExceeded, "The list of bookmarks is full: at most \(BookmarkLimits.listBytes) bytes")
    }
    return (mutations + written, leftOut)
  }

  /// The new bookmark is the newest: an id that waited in the list for its hotel moves to the end.
  mutating func join(_ id: HotelID) {
    leaving.insert(id)
    joining.append(id)
  }

  /// Takes an id off the list; its document is another rule's.
  mutating func unlist(_ id: HotelID) { leaving.insert(id) }

  /// Records a document's next state.
  mutating func write(_ mutation: Mutation) { mutations.append(mutation) }

  /// Puts a hotel's document.
  mutating func put(
    _ id: HotelID, _ body: DocumentBody, base: RevisionID?, created: Timestamp
  ) throws -> Bookmark {
    let tree = try view.newest(id.documentID)
    let former = try view.former(id.documentID, tree)
    var mutation = try Edit.put(
      id.documentID, in: tree, base: base, after: former, body: body, limit: limit)
    mutation.created = created
    mutations.append(mutation)
    return Bookmark(
      id: id, revision: mutation.revision, bookmarkedAt: created, hotel: body.bytes)
  }
}
