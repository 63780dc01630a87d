import Documents
import Stores

/// What a store holds under a hotel's document id, whether the hotel is on the list or not.
enum StoredHotel {
  /// No document, or a tombstone.
  case absent
  case live(Bookmark)
  /// A document that is not a hotel.
  case other

  /// Looks a hotel up.
  /// - Throws: the view's errors; `integrity` for a body that can't be read back.
  init(_ id: HotelID, in view: any StoreView) throws {
    guard let document = try view.document(id.documentID), !document.isDeleted else {
      self = .absent
      return
    }
    let root: JSONNode
    do { root = try ParsedJSON(document.body, limits: .request).root } catch {
      throw ServiceError(
        .integrity, "The document can't be read", detail: "\(id) \(document.revision) \(error)")
    }
    guard root["type"]?.stringEquals(Hotel.type) == true else {
      self = .other
      return
    }
    self = .live(
      Bookmark(
        id: id, revision: document.revision, bookmarkedAt: document.created,
        hotel: document.body, hasID: root["id"]?.stringEquals(id.text) == true))
  }
}

/// The facts that an upstream last gave for a bookmarked hotel, stored beside the bookmark. A document does not say
/// where its members came from; this note tells which of them are the upstream's.
///
/// The note is a local document in the person's store. Sync clients can neither see nor change it.
enum FactsNote {
  /// The id of a hotel's note.
  static func id(of hotel: HotelID) -> LocalID { LocalID(receipt: prefix + hotel.text) }
  /// The prefix of the notes' ids.
  static let prefix = "facts/"

  /// A bookmark's body, merged with the upstream's changes since the note; see ``HotelFacts``.
  /// - Returns: nil when nothing would change, when there is no note (the service then can't tell which members are
  ///   the person's), and for a hotel with conflicting revisions.
  static func followed(
    _ shown: Hotel, from bookmark: Bookmark, in view: any StoreView
  ) throws -> DocumentBody? {
    guard let noted = try view.local(id(of: bookmark.id)), noted.body != shown.body.bytes,
      try isWithoutConflicts(bookmark.id, in: view),
      let body = HotelFacts.merged(
        into: bookmark.hotel, former: noted.body, facts: shown.body.bytes),
      body.bytes.count <= BookmarkLimits.hotelBytes
    else { return nil }
    return body
  }

  /// The edit that stores what an upstream says.
  /// - Parameter replaces: whether to replace an existing note.
  /// - Returns: nil when the note exists already, and for a hotel with conflicting revisions.
  static func edit(
    _ facts: [UInt8], of hotel: HotelID, replaces: Bool = true, in view: any StoreView
  ) throws -> LocalEdit? {
    let noted = try view.local(id(of: hotel))
    guard noted == nil || replaces && noted?.body != facts,
      try isWithoutConflicts(hotel, in: view)
    else { return nil }
    return LocalEdit(
      id(of: hotel), LocalDocument(revision: (noted?.revision ?? 0) &+ 1, body: facts))
  }

  private static func isWithoutConflicts(_ hotel: HotelID, in view: any StoreView) throws -> Bool {
    try view.newest(hotel.documentID)?.conflicts.isEmpty ?? true
  }
}
