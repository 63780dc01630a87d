package import Documents

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

  /// A bookmark as read.
  package init(id: HotelID, revision: RevisionID, bookmarkedAt: Timestamp, hotel: [UInt8]) {
    self.id = id
    self.revision = revision
    self.bookmarkedAt = bookmarkedAt
    self.hotel = hotel
  }

  /// Appends `{"id":"…","rev":"…","bookmarkedAt":"…","hotel":{…}}`; the hotel's bytes are not touched.
  package func append(to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + hotel.count + id.text.utf8.count + 128)
    bytes += #"{"id":"#.utf8
    JSONWriter.appendString(id.text, to: &bytes)
    bytes += #","rev":""#.utf8
    bytes += revision.description.utf8
    bytes += #"","bookmarkedAt":""#.utf8
    bytes += bookmarkedAt.rfc3339.utf8
    bytes += #"","hotel":"#.utf8
    bytes += hotel
    bytes.append(UInt8(ascii: "}"))
  }
}
