package import Documents
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

  /// A bookmark as read.
  package init(
    id: HotelID, revision: RevisionID, bookmarkedAt: Timestamp, hotel: [UInt8], hasID: Bool = true
  ) {
    self.id = id
    self.revision = revision
    self.bookmarkedAt = bookmarkedAt
    self.hotel = hotel
    self.hasID = hasID
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
    bytes += (isReplaced ? #"","replaced":true,"hotel":"# : #"","hotel":"#).utf8
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
  init(_ id: HotelID, in view: any StoreView) throws(StoreError) {
    guard let document = try view.document(id.documentID), !document.isDeleted else {
      self = .absent
      return
    }
    let root: JSONNode
    do { root = try ParsedJSON(document.body, limits: .request).root } catch {
      throw StoreError(
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
