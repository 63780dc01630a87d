import Documents
import Stores

/// What an upstream has said of a bookmarked hotel last, noted beside the bookmark: it tells which of the bookmark's
/// members are the upstream's, for a document says nothing of where its members came from.
///
/// It is a note of the service's own in the person's store. Sync clients don't see it, and can't lose it.
enum FactsNote {
  /// Where a hotel's note is.
  static func id(of hotel: HotelID) -> LocalID { LocalID(receipt: "facts/" + hotel.text) }

  /// A bookmark's body with what the upstream has changed since the note; see ``HotelFacts``.
  /// - Returns: nil when nothing would change: without a note nobody knows which members are the person's, and a
  ///   hotel with conflicting revisions is left alone until they are resolved.
  static func followed(
    _ shown: Hotel, from bookmark: Bookmark, in view: any StoreView
  ) throws(StoreError) -> DocumentBody? {
    guard let noted = try view.local(id(of: bookmark.id)), noted.body != shown.body.bytes,
      try isWithoutConflicts(bookmark.id, in: view),
      let body = HotelFacts.merged(
        into: bookmark.hotel, former: noted.body, facts: shown.body.bytes),
      body.bytes.count <= BookmarkLimits.hotelBytes
    else { return nil }
    return body
  }

  /// The edit that notes what an upstream says.
  /// - Parameter replaces: whether a note that is there gives way.
  /// - Returns: nil when it is noted already, and for a hotel with conflicting revisions.
  static func edit(
    _ facts: [UInt8], of hotel: HotelID, replaces: Bool = true, in view: any StoreView
  ) throws(StoreError) -> LocalEdit? {
    let noted = try view.local(id(of: hotel))
    guard noted == nil || replaces && noted?.body != facts,
      try isWithoutConflicts(hotel, in: view)
    else { return nil }
    return LocalEdit(
      id(of: hotel), LocalDocument(revision: (noted?.revision ?? 0) &+ 1, body: facts))
  }

  private static func isWithoutConflicts(
    _ hotel: HotelID, in view: any StoreView
  ) throws(StoreError) -> Bool {
    try view.tree(hotel.documentID)?.conflicts.isEmpty ?? true
  }
}
