package import Documents

/// A hotel's id, which is also the id of its document in a store: a legal document id that is neither a
/// design document nor the list of bookmarks itself.
package struct HotelID: ByteString {
  /// The id.
  package let text: String

  /// Takes an id; nil for one that can't name a hotel's document.
  package init?(_ text: String) {
    guard let id = try? DocumentID(text), !id.isDesign, id != BookmarkList.documentID else {
      return nil
    }
    self.text = text
  }

  /// The hotel's document.
  package var documentID: DocumentID { DocumentID(stored: text) }
}
