import Documents
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
  private let limit: Int
  private let lists: ListReconciliation
  private var mutations: [Mutation] = []
  private var leaving: Set<HotelID> = []
  private var joining: [HotelID] = []

  /// An edit that changes nothing yet.
  /// - Parameter limit: how many revision ids to keep along a branch.
  init(_ view: any StoreView, now: Timestamp, limit: Int) throws(StoreError) {
    self.view = view
    self.now = now
    self.limit = limit
    self.lists = try ListReconciliation(view)
  }

  /// Whether one list document holds all bookmarks, without conflicts.
  var isSettled: Bool { lists.isSettled }

  /// A bookmark as it was before this edit.
  func bookmark(_ id: HotelID) throws(StoreError) -> Bookmark? {
    guard lists.list.contains(id), case .live(let document) = try StoredHotel(id, in: view) else {
      return nil
    }
    return Bookmark(id, document)
  }

  /// The revision of a bookmark as it was before this edit; nil for a hotel that was not bookmarked.
  func revision(of id: HotelID) throws(HotelError) -> RevisionID? {
    try reading { () throws(StoreError) in try bookmark(id)?.revision }
  }

  /// One of the service's own notes; nil when absent or past its time.
  func local(_ id: LocalID) throws(HotelError) -> LocalDocument? {
    try reading { () throws(StoreError) in try view.local(id) }
  }

  /// Bookmarks a hotel: puts its document and, when it was not bookmarked, its id at the end of the list.
  /// - Parameter body: as ``Hotel/stored()`` made it.
  /// - Throws: `occupied`; `store`.
  mutating func add(_ id: HotelID, _ body: DocumentBody) throws(HotelError) -> BookmarkOutcome {
    let stored = try reading { () throws(StoreError) in try StoredHotel(id, in: view) }
    switch stored {
    case .other:
      throw HotelError(.occupied, "A document that is no hotel has the id \(id)")
    case .absent:
      join(id)
      return .created(try put(id, body, base: nil, created: now))
    case .live(let document):
      let isNew = !lists.list.contains(id)
      if isNew { join(id) }
      let former = try reading { () throws(StoreError) in
        try applying { () throws(DocumentError) in
          try DocumentBody(parsing: document.body, limits: .request)
        }
      }
      guard former.digest != body.digest else {
        let bookmark = Bookmark(id, document)
        return isNew ? .created(bookmark) : .unchanged(bookmark)
      }
      let bookmark = try put(id, body, base: document.revision, created: document.created)
      return isNew ? .created(bookmark) : .updated(bookmark)
    }
  }

  /// Takes another store's bookmark over, with its time, unless the hotel is bookmarked here. A live
  /// document of the hotel stays as it is.
  /// - Returns: whether there is a new bookmark.
  mutating func adopt(_ bookmark: Bookmark) throws(HotelError) -> Bool {
    let id = bookmark.id
    let stored = try reading { () throws(StoreError) in try StoredHotel(id, in: view) }
    switch stored {
    case .other: return false
    case .live:
      guard !lists.list.contains(id) else { return false }
      join(id)
    case .absent:
      let body = try reading { () throws(StoreError) in
        try applying { () throws(DocumentError) in
          try DocumentBody(parsing: bookmark.hotel, limits: .request)
        }
      }
      join(id)
      _ = try put(id, body, base: nil, created: bookmark.bookmarkedAt)
    }
    return true
  }

  /// Takes another store's revision over as it is; nothing when it is known here.
  /// - Returns: false when the document has too many conflicting revisions to take it.
  mutating func take(_ revision: CarriedStore.Revision) throws(HotelError) -> Bool {
    let (id, history) = (revision.id, revision.history)
    let tree = try reading { () throws(StoreError) in try view.tree(id) }
    guard let newest = history.first, tree?[newest] == nil else { return true }
    do throws(DocumentError) {
      let mutation = try Edit.insert(
        id, in: tree, history: history, body: revision.body, isDeleted: false, known: nil,
        limit: limit)
      if let mutation { mutations.append(mutation) }
      return true
    } catch {
      guard error.code == .tooManyLeaves else { throw HotelError(StoreError(error)) }
      return false
    }
  }

  /// Unbookmarks a hotel: its id leaves the list, its document gets a tombstone on every live leaf. An id
  /// that still waits for its hotel leaves the list too.
  /// - Returns: the tombstone's revision; nil when the hotel was not bookmarked.
  mutating func remove(_ id: HotelID) throws(HotelError) -> RevisionID? {
    guard lists.list.contains(id) else { return nil }
    leaving.insert(id)
    let mutation = try reading { () throws(StoreError) -> Mutation? in
      guard try bookmark(id) != nil, let tree = try view.tree(id.documentID) else { return nil }
      return try applying { () throws(DocumentError) in
        try Edit.deleteAllLeaves(id.documentID, in: tree, limit: limit)
      }
    }
    guard let mutation else { return nil }
    mutations.append(mutation)
    return mutation.revision
  }

  /// The edit's mutations: hotels in the order of the calls, then the lists; and how many ids of merged lists found no
  /// room in the one that is written.
  /// - Throws: `quotaExceeded` when bookmarking makes the list longer than ``BookmarkLimits/listBytes``.
  func finished() throws(StoreError) -> (mutations: [Mutation], leftOut: Int) {
    var next = lists.list
    next.remove(leaving)
    next.append(joining)
    let fitting = lists.fitting(next)
    let leftOut = next.hotels.count - fitting.hotels.count
    let written = try lists.mutations(writing: fitting, limit: limit, at: now)
    if !joining.isEmpty,
      leftOut > 0 || (written.first?.body?.bytes.count ?? 0) > BookmarkLimits.listBytes
    {
      throw StoreError(
        .quotaExceeded, "The list of bookmarks is full: at most \(BookmarkLimits.listBytes) bytes")
    }
    return (mutations + written, leftOut)
  }

  /// The new bookmark is the newest: an id that waited in the list for its hotel moves to the end.
  private mutating func join(_ id: HotelID) {
    leaving.insert(id)
    joining.append(id)
  }

  private mutating func put(
    _ id: HotelID, _ body: DocumentBody, base: RevisionID?, created: Timestamp
  ) throws(HotelError) -> Bookmark {
    var mutation = try reading { () throws(StoreError) in
      let tree = try view.tree(id.documentID)
      return try applying { () throws(DocumentError) in
        try Edit.put(id.documentID, in: tree, base: base, body: body, limit: limit)
      }
    }
    mutation.created = created
    mutations.append(mutation)
    return Bookmark(
      id: id, revision: mutation.revision, bookmarkedAt: created, hotel: body.bytes)
  }
}

extension Bookmark {
  /// The bookmark that a live hotel document stands for.
  init(_ id: HotelID, _ document: Document) {
    self.init(
      id: id, revision: document.revision, bookmarkedAt: document.created, hotel: document.body)
  }
}

/// Runs what reads a store where this layer's errors are expected.
/// - Throws: `store`.
func reading<Value>(_ read: () throws(StoreError) -> Value) throws(HotelError) -> Value {
  do { return try read() } catch { throw HotelError(error) }
}
