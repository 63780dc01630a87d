import JSON

/// What a batch did, item by item, and the batch that undoes it.
package struct BatchAnswer: Sendable {
  /// What became of one item.
  package struct Item: Sendable, Equatable {
    /// The hotel.
    package let id: HotelID
    /// 201 bookmarked, 200 was bookmarked already (its facts changed or not), 204 unbookmarked, 404 was not
    /// bookmarked. Of an undo also 409, somebody has changed it since, and 410, what it said is no longer kept; both
    /// are left alone.
    package let status: Int
    /// Whether given facts took the place of others.
    package let isReplaced: Bool

    init(id: HotelID, status: Int, isReplaced: Bool = false) {
      self.id = id
      self.status = status
      self.isReplaced = isReplaced
    }
  }

  /// The items: those of `add` in order, then those of `remove`, then those of `restore`.
  package internal(set) var results: [Item] = []
  /// What brings the former state back, in the order of the results.
  package internal(set) var undo: [Restoration] = []

  /// The answer's JSON: `{"results":[{"id","status"}…],"undo":{"restore":[…]}}`. The undo is the body of the batch
  /// that brings the former bookmarks back.
  package var bytes: [UInt8] {
    var bytes = Array(#"{"results":["#.utf8)
    for (place, item) in results.enumerated() {
      bytes += (place > 0 ? #",{"id":"# : #"{"id":"#).utf8
      JSONWriter.appendString(item.id.text, to: &bytes)
      bytes += #","status":\#(item.status)\#(item.isReplaced ? #","replaced":true"# : "")}"#.utf8
    }
    bytes += #"],"undo":{"restore":["#.utf8
    for (place, item) in undo.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      item.append(to: &bytes)
    }
    bytes += "]}}".utf8
    return bytes
  }
}
