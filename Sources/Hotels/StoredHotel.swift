import Documents
import Stores

/// What stands in a store where a hotel's document belongs.
enum StoredHotel {
  /// Nothing, or a tombstone.
  case absent
  /// The hotel.
  case live(Document)
  /// A document that is no hotel.
  case other

  /// Looks a hotel up.
  /// - Throws: the view's errors; `integrity` for a body that can't be read back.
  init(_ id: HotelID, in view: any StoreView) throws(StoreError) {
    guard let document = try view.document(id.documentID), !document.isDeleted else {
      self = .absent
      return
    }
    let type: JSONNode?
    do { type = try ParsedJSON(document.body, limits: .request).root["type"] } catch {
      throw StoreError(
        .integrity, "The document can't be read", detail: "\(id) \(document.revision) \(error)")
    }
    self = type?.stringEquals(Hotel.type) == true ? .live(document) : .other
  }
}
