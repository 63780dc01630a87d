import Documents
package import Stores

/// Bringing an upstream's newer facts into bookmarks, behind the scenes.
extension HotelService {
  /// Looks at hotels that an upstream has just shown, and writes a new revision of each that is bookmarked and
  /// whose facts have changed since they were shown before; see ``HotelFacts``. What the upstream said is noted,
  /// so that the next change is told from the person's own. The first time it is only noted: nobody knows then
  /// which members of the bookmark are the person's.
  ///
  /// A hotel with conflicting revisions is left alone until they are resolved.
  /// - Returns: how many bookmarks were changed.
  /// - Throws: `store`; all of it can be done again at any time.
  @discardableResult
  package func refresh(
    _ shown: [Hotel], in name: StoreName
  ) async throws(HotelError) -> Int {
    let bookmarked = try await bookmarked(among: shown.map(\.id), in: name)
    let hotels = shown.filter { bookmarked.contains($0.id) }
    guard !hotels.isEmpty else { return 0 }
    return try await run(name, creating: false) { store throws(StoreError) in
      let limit = store.revisionLimit
      return try await store.update(Set(hotels.map(\.id.documentID))) {
        view throws(StoreError) in
        var decision = Decision(value: 0)
        for hotel in hotels { try Self.refresh(hotel, in: view, limit: limit, &decision) }
        return decision
      }.value
    } ?? 0
  }

  private static func refresh(
    _ hotel: Hotel, in view: any StoreView, limit: Int, _ decision: inout Decision<Int>
  ) throws(StoreError) {
    let id = hotel.id.documentID
    let note = LocalID(receipt: "facts/" + hotel.id.text)
    let noted = try view.local(note)
    guard noted?.body != hotel.body.bytes,
      case .live(let document) = try StoredHotel(hotel.id, in: view), let tree = try view.tree(id),
      tree.conflicts.isEmpty
    else { return }
    if let noted,
      let body = HotelFacts.merged(
        into: document.body, former: noted.body, facts: hotel.body.bytes),
      body.bytes.count <= BookmarkLimits.hotelBytes
    {
      decision.mutations.append(
        try applying { () throws(DocumentError) in
          try Edit.put(id, in: tree, base: document.revision, body: body, limit: limit)
        })
      decision.value += 1
    }
    let next = LocalDocument(revision: (noted?.revision ?? 0) &+ 1, body: hotel.body.bytes)
    decision.locals.append(LocalEdit(note, next))
  }
}
