import Documents
import Scheduling
import Stores

/// The contents of a guest's store that are copied when the guest becomes a user. A guest's store is small.
struct CarriedStore: Sendable {
  /// A live leaf with its history.
  struct Revision: Sendable {
    let id: DocumentID
    /// The revision and its known ancestors, newest first.
    let history: [RevisionID]
    let body: DocumentBody
  }

  /// The bookmarks whose revisions do not conflict, oldest first.
  private(set) var bookmarks: [Bookmark] = []
  /// What an upstream said of these hotels, as stored; see ``FactsNote``.
  private(set) var notes: [HotelID: [UInt8]] = [:]
  /// The live documents that are neither in ``bookmarks`` nor lists. The first element has the winners in the order of
  /// their ids, the second the first conflicting revisions, and so on, because one update takes one revision of a
  /// document.
  private(set) var others: [[Revision]] = []
  /// The attachments that these documents name.
  private(set) var attachments: [NewAttachment] = []
  /// The body of the list's document, which may have members of an app's own.
  private(set) var listBody: [UInt8]?

  /// The ids on the list in the first state; nil before it is read.
  private var listed: [HotelID]?
  private var lists = ListReader()
  private var nextListed = 0
  /// The indices of ``bookmarks`` on the list.
  private var places: [Int] = []
  /// Documents that don't belong to ``others``: bookmarks and lists.
  private var known: Set<DocumentID> = [BookmarkList.documentID]
  /// The sequence of the last list that was read; nil when all were read.
  private var lastList: Int64? = 0
  /// The range of ids that is still to be read; nil for none.
  private var range: DocumentRange? = DocumentRange()
  private var ids: [DocumentID] = []
  private var nextID = 0
  /// Whether the attachments are read.
  private var hasAttachments = false

  var isEmpty: Bool { listed?.isEmpty != false && others.isEmpty }

  /// The other ids on the list, whose hotels have not arrived or are in ``others``: those before each of ``bookmarks``, and
  /// those after the last one.
  var unstored: [ArraySlice<HotelID>] {
    let listed = listed ?? []
    return zip([-1] + places, places + [listed.count]).map { listed[($0 + 1)..<$1] }
  }

  /// Continues in a state of the store until the slice is over. Writes during the read may be included or not.
  /// - Returns: whether everything is read.
  /// - Throws: the view's errors; `integrity` for a body that can't be read back.
  mutating func read(_ view: any StoreView) throws -> Bool {
    if listed == nil, let read = try lists.read(view) {
      (listed, listBody) = (read.list.hotels, read.former)
    }
    guard let listed else { return false }
    while nextListed < listed.count {
      let id = listed[nextListed]
      if case .live(let bookmark) = try StoredHotel(id, in: view),
        try view.newest(id.documentID)?.conflicts.isEmpty ?? true
      {
        bookmarks.append(bookmark)
        places.append(nextListed)
        notes[id] = try view.local(FactsNote.id(of: id))?.body
        known.insert(id.documentID)
      }
      nextListed += 1
      if view.slice.isOver { return false }
    }
    while let last = lastList {
      let lists = try view.changes(ofType: BookmarkList.type, after: last, limit: 100)
      known.formUnion(lists.map(\.id))
      lastList = lists.last?.sequence
      if view.slice.isOver { return false }
    }
    range = try view.walk(range) { document in
      if !known.contains(document.id) { ids.append(document.id) }
      return true
    }
    guard range == nil else { return false }
    while nextID < ids.count {
      for (rank, leaf) in try Self.leaves(of: ids[nextID], in: view).enumerated() {
        if rank == others.count { others.append([]) }
        others[rank].append(leaf)
      }
      nextID += 1
      if view.slice.isOver { return false }
    }
    if !hasAttachments {
      // A guest's store has at most 1 MiB of them.
      attachments = try view.newAttachments()
      hasAttachments = true
    }
    return true
  }

  /// The live leaves, winner first.
  private static func leaves(of id: DocumentID, in view: any StoreView) throws -> [Revision] {
    guard let tree = try view.tree(id) else { return [] }
    var revisions: [Revision] = []
    for leaf in tree.leaves where !leaf.isDeleted {
      guard let bytes = try view.body(id, leaf.revision) else {
        throw ServiceError(
          .integrity, "The document can't be read", detail: "\(id) \(leaf.revision)")
      }
      let body = try DocumentBody(parsing: bytes, limits: .request)
      revisions.append(Revision(id: id, history: tree.history(of: leaf.revision), body: body))
    }
    return revisions
  }
}
