package import Documents

/// Several changes of a store's bookmarks that happen together or not at all.
package struct BookmarkBatch: Sendable {
  /// Hotels to bookmark, in order.
  package var add: [HotelAddition]
  /// Hotels to unbookmark, in order.
  package let remove: [HotelID]
  /// Steps of an undo.
  package let restore: [Restoration]

  /// All hotels that it is about.
  package var ids: [HotelID] { add.map(\.id) + remove + restore.map(\.id) }

  /// Reads `{"add":[hotel…],"remove":[id…],"restore":[step…]}`; each may be absent.
  /// - Throws: `invalidBatch` for any other shape, too many items, an id that comes twice; `invalidHotel`
  ///   for an item of `add` that is no hotel, naming its place.
  package init(parsing node: JSONNode) throws(HotelError) {
    guard node.kind == .object else {
      throw HotelError(.invalidBatch, "The batch must be an object with add and remove")
    }
    let names = ["add", "remove", "restore"]
    for member in node.members where !names.contains(where: { member.nameEquals($0) }) {
      throw HotelError(
        .invalidBatch, "The batch has a member that is none of add, remove and restore")
    }
    let (added, removed) = (try Self.array(node, "add"), try Self.array(node, "remove"))
    let steps = try Self.array(node, "restore")
    guard added.count + removed.count + steps.count <= BookmarkLimits.batchItems else {
      throw Self.tooMany
    }
    var hotels: [HotelAddition] = []
    for (place, item) in added.enumerated() {
      do { hotels.append(try HotelAddition(item)) } catch {
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
    var restored: [Restoration] = []
    for (place, item) in steps.enumerated() {
      guard let step = Restoration(item) else {
        throw HotelError(
          .invalidBatch, "restore[\(place)] is no step of an undo; send it as it came")
      }
      restored.append(step)
    }
    (add, remove, restore) = (hotels, ids, restored)
    var seen: Set<HotelID> = []
    for id in self.ids {
      guard seen.insert(id).inserted else {
        throw HotelError(.invalidBatch, "The hotel \(id) stands twice in the batch")
      }
    }
  }

  /// It with the bodies to store.
  /// - Throws: `invalidHotel` and `tooLarge`, naming the hotel.
  func prepared() throws(HotelError) -> BookmarkBatch {
    var batch = self
    for place in add.indices {
      do { batch.add[place] = try add[place].prepared() } catch {
        throw HotelError(error.code, "\(add[place].id): \(error.reason)")
      }
    }
    return batch
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
