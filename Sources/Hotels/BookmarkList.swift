package import Documents

/// The list of bookmarks: `{"type":"bookmarkedhotels","hotels":[ids, oldest first]}`. A value.
package struct BookmarkList: Sendable, Equatable {
  /// The canonical list's document.
  package static let documentID = DocumentID(stored: "bookmarkedhotels")
  /// The `type` of any list, canonical or an app's own.
  package static let type = "bookmarkedhotels"

  /// The bookmarked hotels, oldest first, each once.
  package private(set) var hotels: [HotelID]
  private var members: Set<HotelID>

  /// A list; repeated ids count where they stand first.
  package init(_ hotels: [HotelID] = []) {
    var members: Set<HotelID> = []
    self.hotels = hotels.filter { members.insert($0).inserted }
    self.members = members
  }

  package static func == (left: BookmarkList, right: BookmarkList) -> Bool {
    left.hotels == right.hotels
  }

  /// Whether the list has the id.
  package func contains(_ id: HotelID) -> Bool { members.contains(id) }

  /// Puts ids at the end, in order; those that the list has already stay where they are.
  package mutating func append(_ ids: some Sequence<HotelID>) {
    for id in ids where members.insert(id).inserted { hotels.append(id) }
  }

  /// Takes ids out; the others keep their order.
  package mutating func remove(_ ids: Set<HotelID>) {
    guard !ids.isDisjoint(with: members) else { return }
    hotels.removeAll { ids.contains($0) }
    members.subtract(ids)
  }

  /// The ids of this list that the other does not have, in this list's order.
  package func subtracting(_ other: BookmarkList) -> [HotelID] {
    hotels.filter { !other.contains($0) }
  }

  /// All ids of all lists: those of the first in its order, then what each further one adds.
  package static func union(_ lists: some Sequence<BookmarkList>) -> BookmarkList {
    var union = BookmarkList()
    for list in lists { union.append(list.hotels) }
    return union
  }
}
