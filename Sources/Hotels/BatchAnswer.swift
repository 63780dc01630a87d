import Documents

/// What a batch did, item by item, and the batch that undoes it.
package struct BatchAnswer: Sendable {
  /// What became of one item.
  package struct Item: Sendable, Equatable {
    /// The hotel.
    package let id: HotelID
    /// 201 bookmarked, 200 was bookmarked already (its facts updated or not), 204 unbookmarked, 404 was
    /// not bookmarked.
    package let status: Int
  }

  /// The items: those of `add` in order, then those of `remove`.
  package let results: [Item]
  /// Whether the answer was kept from an earlier request with the same idempotency key.
  package let isReplay: Bool
  /// Bookmarks to bring back, as they were before.
  let restored: [Bookmark]
  /// Bookmarks to take away again.
  let withdrawn: [HotelID]

  init(results: [Item], isReplay: Bool, restored: [Bookmark], withdrawn: [HotelID]) {
    self.results = results
    self.isReplay = isReplay
    self.restored = restored
    self.withdrawn = withdrawn
  }

  /// The answer's JSON: `{"results":[{"id","status"}…],"undo":{…}}`.
  package var bytes: [UInt8] {
    var bytes = Array(#"{"results":["#.utf8)
    for (place, item) in results.enumerated() {
      bytes += (place > 0 ? #",{"id":"# : #"{"id":"#).utf8
      JSONWriter.appendString(item.id.text, to: &bytes)
      bytes += #","status":\#(item.status)}"#.utf8
    }
    bytes += #"],"undo":"#.utf8
    bytes += undo
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// The body of the batch that brings the former bookmarks back: `{"add":[hotel…],"remove":[id…]}`, each
  /// hotel as it was stored, with its id as `_id`. A bookmark that comes back is the newest one.
  package var undo: [UInt8] {
    var bytes = Array(#"{"add":["#.utf8)
    for (place, item) in restored.enumerated() {
      bytes += (place > 0 ? #",{"_id":"# : #"{"_id":"#).utf8
      JSONWriter.appendString(item.id.text, to: &bytes)
      if item.hotel.count > 2 { bytes.append(UInt8(ascii: ",")) }
      bytes += item.hotel.dropFirst()
    }
    bytes += #"],"remove":["#.utf8
    for (place, id) in withdrawn.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(id.text, to: &bytes)
    }
    bytes += "]}".utf8
    return bytes
  }
}
