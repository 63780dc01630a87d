package import Documents
import JSON
import Stores

/// A bookmark: a hotel whose id is in the store's list and whose document is live.
///
/// An id in the list without a live document stays in the list, because sync may still bring the hotel. It is not
/// returned as a bookmark.
package struct Bookmark: Sendable {
  /// The hotel's id.
  package let id: HotelID
  /// The revision of the hotel's document.
  package let revision: RevisionID
  /// When the hotel's document was created, or created again after its last deletion.
  package let bookmarkedAt: Timestamp
  /// The hotel's body, byte for byte as stored.
  package let hotel: [UInt8]
  /// Whether the body's `id` is the hotel's id. A body that came by sync may lack it.
  let hasID: Bool
  /// Whether it is a draft. Only its author sees a draft.
  package var isDraft = false
  /// The name of the user who added the bookmark, in a store that several people share; nil in any other store.
  package var addedBy: String?
  /// The photos of the list's bookmark, for a draft, which has none of its own.
  package var publishedPhotos: [Photo] = []
  /// Its photos.
  package var photos: [Photo] { isDraft ? publishedPhotos : Photo.all(in: hotel) }

  /// Makes a bookmark from stored data.
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

  /// Appends `{"id":"…","rev":"…","bookmarkedAt":"…","hotel":{…}}`, with `photos` if there are any. The hotel's bytes are
  /// written as stored, except that its `id` is added or corrected.
  /// - Parameter isReplaced: whether to write `"replaced":true` before the hotel.
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
    let photos = photos
    if !photos.isEmpty {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("photos")
      writer.beginArray()
      for photo in photos {
        writer.beginObject()
        photo.appendMembers(to: &writer)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
      bytes.append(UInt8(ascii: ","))
      bytes += writer.bytes.dropFirst().dropLast()
    }
    bytes += #","hotel":"#.utf8
    bytes += hasID ? hotel : named()
    bytes.append(UInt8(ascii: "}"))
  }

  /// The hotel's JSON with its `id`.
  private func named() -> [UInt8] {
    guard let root = try? ParsedJSON(hotel, limits: .request).root else { return hotel }
    return root.hotel(named: id)
  }
}

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

/// The effect of bookmarking a hotel.
package enum BookmarkOutcome: Sendable {
  /// The hotel was not bookmarked and is now.
  case created(Bookmark)
  /// The hotel was bookmarked already. Newer facts of the upstream were merged into its document.
  case updated(Bookmark)
  /// The hotel was bookmarked already. The given facts replaced everything in its document.
  case replaced(Bookmark)
  /// The hotel was bookmarked already with the same facts. Its document did not change.
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

  /// Whether the given facts replaced others.
  package var isReplaced: Bool {
    guard case .replaced = self else { return false }
    return true
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

  private static func isWithoutConflicts(
    _ hotel: HotelID, in view: any StoreView
  ) throws -> Bool {
    try view.newest(hotel.documentID)?.conflicts.isEmpty ?? true
  }
}
