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

extension HotelID {
  /// An id as lists and batches hold it: text as it is, a whole number N as `hotel_N`. Nil for everything
  /// else, for an empty text, and for Python's `None`.
  package init?(entry node: JSONNode) {
    if let number = node.int {
      guard number >= 0 else { return nil }
      self.init("hotel_\(number)")
    } else {
      guard let text = node.string, !text.equalsBytes(of: "None") else { return nil }
      self.init(text)
    }
  }
}
