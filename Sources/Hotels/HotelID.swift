package import Documents

/// A hotel's id, which is also the id of its document: a legal document id that is neither a design document's nor
/// the id of the bookmark list.
package struct HotelID: ByteString {
  package let text: String

  /// The prefix of the ids of drafts on lists. No hotel has such an id: a list's store has no drafts, and in a person's own
  /// store a draft would take the hotel's place.
  package static let draftPrefix = "draft:"

  /// Makes an id; nil for text that can't be the id of a hotel's document.
  package init?(_ text: String) {
    guard let id = try? DocumentID(text), !id.isDesign, id != BookmarkList.documentID,
      !text.utf8.starts(with: Self.draftPrefix.utf8)
    else { return nil }
    self.text = text
  }

  /// The id of the hotel's document.
  package var documentID: DocumentID { DocumentID(stored: text) }

  /// Reads an id in a list or a batch: a string as it is, a whole number N as `hotel_N`. Nil for anything else, for
  /// an empty string and for Python's `None`.
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
