package import Documents

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

  /// The JSON object: `{"id":"…","rev":"…","bookmarkedAt":"…","hotel":{…}}`.
  package var bytes: [UInt8] {
    JSONWriter.object(reserving: hotel.count + 256) { appendMembers(to: &$0) }
  }

  /// Writes the object's members, with `photos` if there are any. The hotel's bytes are written as stored, except that
  /// its `id` is added or corrected.
  /// - Parameter isReplaced: whether to write `"replaced":true` before the hotel.
  package func appendMembers(to writer: inout JSONWriter, isReplaced: Bool = false) {
    writer.member("id", id.text)
    writer.member("rev", revision.description)
    writer.member("bookmarkedAt", bookmarkedAt.rfc3339)
    if isReplaced { writer.member("replaced", true) }
    if isDraft { writer.member("draft", true) }
    if let addedBy { writer.member("addedBy", addedBy) }
    let photos = photos
    if !photos.isEmpty { writer.objects("photos", of: photos) { $0.appendMembers(to: &$1) } }
    writer.member("hotel", raw: hasID ? hotel : named())
  }

  /// The hotel's JSON with its `id`.
  private func named() -> [UInt8] {
    guard let root = try? ParsedJSON(hotel, limits: .request).root else { return hotel }
    return root.hotel(named: id)
  }
}

/// The effect of bookmarking a hotel.
package struct BookmarkOutcome: Sendable {
  package enum Effect: Sendable {
    /// The hotel was not bookmarked and is now.
    case created
    /// The hotel was bookmarked already. Newer facts of the upstream were merged into its document.
    case updated
    /// The hotel was bookmarked already. The given facts replaced everything in its document.
    case replaced
    /// The hotel was bookmarked already with the same facts. Its document did not change.
    case unchanged
  }

  package let effect: Effect
  /// The bookmark as it is now.
  package let bookmark: Bookmark
}
