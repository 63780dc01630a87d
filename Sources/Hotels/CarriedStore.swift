import Documents
import Stores

/// All that moves from one store to another when a guest becomes a user. For guests' stores, which are small.
struct CarriedStore: Sendable {
  /// A live leaf with its history.
  struct Revision: Sendable {
    let id: DocumentID
    /// The revision and its known ancestors, newest first.
    let history: [RevisionID]
    let body: DocumentBody
  }

  /// The bookmarks, oldest first.
  private(set) var bookmarks: [Bookmark] = []
  /// The live documents that are neither bookmarks nor lists of them: first the winners by id, then the
  /// first conflicting revisions, and so on, for an update takes one revision of a document.
  private(set) var others: [[Revision]] = []

  var isEmpty: Bool { bookmarks.isEmpty && others.isEmpty }

  /// Reads one state of a store.
  /// - Throws: the view's errors; `integrity` for a body that can't be read back.
  init(_ view: any StoreView) throws(StoreError) {
    for id in try ListReconciliation(view).list.hotels {
      guard case .live(let document) = try StoredHotel(id, in: view) else { continue }
      bookmarks.append(Bookmark(id, document))
    }
    let lists = try view.ids(ofType: BookmarkList.type) + [BookmarkList.documentID]
    let known = Set(lists).union(bookmarks.map(\.id.documentID))
    var ids: [DocumentID] = []
    try view.documents(DocumentRange()) { document throws(StoreError) in
      if !known.contains(document.id) { ids.append(document.id) }
      return true
    }
    for id in ids {
      for (rank, leaf) in try Self.leaves(of: id, in: view).enumerated() {
        if rank == others.count { others.append([]) }
        others[rank].append(leaf)
      }
    }
  }

  /// The live leaves, winner first.
  private static func leaves(
    of id: DocumentID, in view: any StoreView
  ) throws(StoreError) -> [Revision] {
    guard let tree = try view.tree(id) else { return [] }
    var revisions: [Revision] = []
    for leaf in tree.leaves where !leaf.isDeleted {
      guard let bytes = try view.body(id, leaf.revision) else {
        throw StoreError(
          .integrity, "The document can't be read", detail: "\(id) \(leaf.revision)")
      }
      let body = try applying { () throws(DocumentError) in
        try DocumentBody(parsing: bytes, limits: .request)
      }
      revisions.append(Revision(id: id, history: tree.history(of: leaf.revision), body: body))
    }
    return revisions
  }
}
