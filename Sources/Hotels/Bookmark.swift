package import Documents
import JSON
import Stores

/// A bookmark: an id in the store's list whose hotel document is live.
///
/// Ids in the list without such a document stay there (the hotel may still be on its way by sync), but
/// they are not answered as bookmarks.
package struct Bookmark: Sendable {
  /// The hotel's id.
  package let id: HotelID
  /// The revision of the hotel's document.
  package let revision: RevisionID
  /// When this life of the hotel's document began.
  package let bookmarkedAt: Timestamp
  /// The hotel's body, byte for byte as stored.
  package let hotel: [UInt8]
  /// Whether the body says the hotel's id. One that came by sync may not.
  let hasID: Bool
  /// Whether it is a draft, which its author alone sees.
  package var isDraft = false
  /// The name of who has bookmarked it, in a store that several people share; nil in any other.
  package var addedBy: String?

  /// A bookmark as read.
  package init(
    id: HotelID, revision: RevisionID, bookmarkedAt: Timestamp, hotel: [UInt8],
    hasID: Bool = true, isDraft: Bool = false
  ) {
    self.id = id
    self.revision = revision
    self.bookmarkedAt = bookmarkedAt
    self.hotel = hotel
    self.hasID = hasID
    self.isDraft = isDraft
  }

  /// Appends `{"id":"…","rev":"…","bookmarkedAt":"…","hotel":{…}}`. The hotel's bytes are not touched but for its
  /// `id`, which it has in any case.
  /// - Parameter isReplaced: whether `"replaced":true` stands before the hotel.
  package func append(to bytes: inout [UInt8], isReplaced: Bool = false) {
    bytes.reserveCapacity(bytes.count + hotel.count + id.text.utf8.count + 128)
    bytes += #"{"id":"#.utf8
    JSONWriter.appendString(id.text, to: &bytes)
    bytes += #","rev":""#.utf8
    bytes += revision.description.utf8
    bytes += #"","bookmarkedAt":""#.utf8
    bytes += bookmarkedAt.rfc3339.utf8
    bytes.append(UInt8(ascii: "\""))
    if isReplaced { bytes += #","replaced":true"#.utf8 }
    if isDraft { bytes += #","draft":true"#.utf8 }
    if let addedBy {
      bytes += #","addedBy":"#.utf8
      JSONWriter.appendString(addedBy, to: &bytes)
    }
    bytes += #","hotel":"#.utf8
    bytes += hasID ? hotel : named()
    bytes.append(UInt8(ascii: "}"))
  }

  /// The hotel with its id.
  private func named() -> [UInt8] {
    guard let root = try? ParsedJSON(hotel, limits: .request).root else { return hotel }
    return root.hotel(named: id)
  }
}

/// What stands in a store where a hotel's document belongs, whether the list names it or not.
enum StoredHotel {
  /// Nothing, or a tombstone.
  case absent
  /// The hotel.
  case live(Bookmark)
  /// A document that is no hotel.
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

/// What bookmarking a hotel did.
package enum BookmarkOutcome: Sendable {
  /// The hotel was not bookmarked and is now.
  case created(Bookmark)
  /// The hotel was bookmarked; newer facts of the upstream came into its document.
  case updated(Bookmark)
  /// The hotel was bookmarked; the given facts took the place of all that its document said.
  case replaced(Bookmark)
  /// The hotel was bookmarked with the very same facts; its document is as it was.
  case unchanged(Bookmark)

  /// The bookmark as it is now.
  package var bookmark: Bookmark {
    switch self {
    case .created(let bookmark), .updated(let bookmark), .replaced(let bookmark),
      .unchanged(let bookmark):
      bookmark
    }
  }

  /// Whether the hotel was not bookmarked before.
  package var isCreated: Bool {
    guard case .created = self else { return false }
    return true
  }

  /// Whether given facts took the place of others.
  package var isReplaced: Bool {
    guard case .replaced = self else { return false }
    return true
  }
}

/// What an upstream has said of a bookmarked hotel last, noted beside the bookmark: it tells which of the bookmark's
/// members are the upstream's, for a document says nothing of where its members came from.
///
/// It is a note of the service's own in the person's store. Sync clients don't see it, and can't lose it.
enum FactsNote {
  /// Where a hotel's note is.
  static func id(of hotel: HotelID) -> LocalID { LocalID(receipt: prefix + hotel.text) }
  /// What the notes' names start with.
  static let prefix = "facts/"

  /// A bookmark's body with what the upstream has changed since the note; see ``HotelFacts``.
  /// - Returns: nil when nothing would change: without a note nobody knows which members are the person's, and a
  ///   hotel with conflicting revisions is left alone until they are resolved.
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

  /// The edit that notes what an upstream says.
  /// - Parameter replaces: whether a note that is there gives way.
  /// - Returns: nil when it is noted already, and for a hotel with conflicting revisions.
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

  private static func isWithoutConflicts(
    _ hotel: HotelID, in view: any StoreView
  ) throws -> Bool {
    try view.newest(hotel.documentID)?.conflicts.isEmpty ?? true
  }
}
