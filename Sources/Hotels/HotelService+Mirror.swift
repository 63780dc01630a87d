import Documents
package import Stores

/// The offline copy: everything once, then only what changed.
extension HotelService {
  /// What a copy lacks.
  /// - Parameter token: where the copy stands; nil for none.
  /// - Returns: nil when the copy can't go on from there and has to begin again without a token.
  /// - Throws: `store`.
  package func mirror(
    of name: StoreName, since token: MirrorToken?
  ) async throws(HotelError) -> MirrorPage? {
    let page = try await read(name) { view throws(StoreError) -> MirrorPage? in
      // A copy of nothing can go on in any store.
      let since = token.flatMap { $0.sequence == 0 ? nil : $0 }
      if let since, try !since.isGood(in: view) { return nil }
      return try MirrorPage(in: view, after: since?.sequence)
    }
    switch page {
    case .some(let page): return page
    case .none: return token.map { $0.sequence == 0 } ?? true ? .nothing : nil
    }
  }

  /// Everything that a person has bookmarked, newest first, for a search among it.
  /// - Throws: `store`.
  package func allBookmarks(in name: StoreName) async throws(HotelError) -> [Hotel] {
    let bookmarks =
      try await read(name) { view throws(StoreError) -> [Bookmark] in
        let list = try ListReconciliation(view).list
        var found: [Bookmark] = []
        for id in list.hotels.reversed() {
          if case .live(let document) = try StoredHotel(id, in: view) {
            found.append(Bookmark(id, document))
          }
        }
        return found
      } ?? []
    return bookmarks.compactMap { bookmark in
      (try? DocumentBody(parsing: bookmark.hotel)).map { Hotel(id: bookmark.id, body: $0) }
    }
  }
}

extension MirrorPage {
  /// The page of a store that is not there.
  static let nothing = MirrorPage(
    token: .absent, isReset: true, hasMore: false, hotels: [], removed: [], order: [])

  /// The page after a change, or from the beginning.
  init(in view: any StoreView, after sequence: Int64?) throws(StoreError) {
    let changes = try view.changes(after: sequence ?? 0, limit: Self.scan)
    var hotels: [Bookmark] = []
    var removed: [(id: DocumentID, revision: RevisionID)] = []
    var (last, bytes, listChanged) = (sequence ?? 0, 0, sequence == nil)
    var isCut = changes.count == Self.scan
    for change in changes {
      guard hotels.count < Self.rows, bytes < Self.bytes else {
        isCut = true
        break
      }
      last = change.sequence
      if let bookmark = try Self.hotel(change, in: view) {
        hotels.append(bookmark)
        bytes += bookmark.hotel.count
      } else {
        // A list of any id, or what was one, may have changed what is bookmarked.
        let isList = try Self.mayBeList(change, in: view)
        listChanged = listChanged || isList
        if sequence != nil, HotelID(change.id.text) != nil {
          removed.append((change.id, change.revision))
        }
      }
    }
    if !isCut { last = try view.info().lastSequence }
    let list = listChanged ? try ListReconciliation(view).list : nil
    self.init(
      token: try MirrorToken(last, in: view), isReset: sequence == nil, hasMore: isCut,
      hotels: hotels, removed: removed, order: list.map { Array($0.hotels.reversed()) })
  }

  /// A changed document as a hotel; nil for anything else.
  private static func hotel(
    _ change: Change, in view: any StoreView
  ) throws(StoreError) -> Bookmark? {
    guard !change.isDeleted, let id = HotelID(change.id.text),
      case .live(let document) = try StoredHotel(id, in: view)
    else { return nil }
    return Bookmark(id, document)
  }

  private static func mayBeList(
    _ change: Change, in view: any StoreView
  ) throws(StoreError) -> Bool {
    if change.id == BookmarkList.documentID || change.isDeleted { return true }
    guard let document = try view.document(change.id) else { return true }
    return (try? DocumentBody(parsing: document.body).type)?.map {
      $0.equalsBytes(of: BookmarkList.type)
    } ?? false
  }
}
