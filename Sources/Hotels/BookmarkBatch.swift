package import Documents

/// Several changes of a store's bookmarks that happen together or not at all.
package struct BookmarkBatch: Sendable {
  /// Hotels to bookmark, in order.
  package let add: [Hotel]
  /// Hotels to unbookmark, in order.
  package let remove: [HotelID]

  /// A batch of known parts.
  /// - Throws: `invalidBatch` for more than ``BookmarkLimits/batchItems`` items or an id that comes twice.
  package init(add: [Hotel], remove: [HotelID]) throws(HotelError) {
    guard add.count + remove.count <= BookmarkLimits.batchItems else { throw Self.tooMany }
    var seen: Set<HotelID> = []
    for id in add.map(\.id) + remove {
      guard seen.insert(id).inserted else {
        throw HotelError(.invalidBatch, "The hotel \(id) stands twice in the batch")
      }
    }
    self.add = add
    self.remove = remove
  }

  /// Reads `{"add":[hotel…],"remove":[id…]}`; either may be absent.
  /// - Throws: `invalidBatch` for any other shape, too many items, an id that comes twice; `invalidHotel`
  ///   for an item of `add` that is no hotel, naming its place.
  package init(parsing node: JSONNode) throws(HotelError) {
    guard node.kind == .object else {
      throw HotelError(.invalidBatch, "The batch must be an object with add and remove")
    }
    for member in node.members where !member.nameEquals("add") && !member.nameEquals("remove") {
      throw HotelError(.invalidBatch, "The batch has a member that is neither add nor remove")
    }
    let (added, removed) = (try Self.array(node, "add"), try Self.array(node, "remove"))
    guard added.count + removed.count <= BookmarkLimits.batchItems else { throw Self.tooMany }
    var hotels: [Hotel] = []
    for (place, item) in added.enumerated() {
      do { hotels.append(try Hotel(item, from: .client)) } catch {
        throw HotelError(.invalidHotel, "add[\(place)]: \(error.reason)")
      }
    }
    var ids: [HotelID] = []
    for (place, item) in removed.enumerated() {
      guard let id = HotelID(entry: item) else {
        throw HotelError(.invalidBatch, "remove[\(place)] is no hotel's id")
      }
      ids.append(id)
    }
    try self.init(add: hotels, remove: ids)
  }

  private static func array(_ node: JSONNode, _ name: String) throws(HotelError) -> [JSONNode] {
    guard let value = node[name] else { return [] }
    guard value.kind == .array else {
      throw HotelError(.invalidBatch, "The batch's \(name) must be an array")
    }
    // Before the nodes are gathered: the text may have millions.
    guard value.count <= BookmarkLimits.batchItems else { throw tooMany }
    return Array(value.elements)
  }

  private static let tooMany = HotelError(
    .invalidBatch, "A batch has at most \(BookmarkLimits.batchItems) items")
}
