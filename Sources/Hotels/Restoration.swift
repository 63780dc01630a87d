package import Documents
import JSON
import Lanes
import Stores

/// One step of an undo: what a batch left of one bookmark, and what it was before.
///
/// `{"id","rev","former":{"rev","place","after","before"}}`, without `former` for a bookmark that the batch made. What the
/// bookmark said is in the document's history, and when it was made is kept with its tombstone.
package struct Restoration: Sendable, Equatable {
  /// The hotel.
  package let id: HotelID
  /// The revision that the batch left, a tombstone or not: where there is another, somebody has changed it since.
  package let revision: RevisionID
  /// The bookmark before the batch; nil for none.
  package let former: Former?

  /// A bookmark as it was.
  package struct Former: Sendable, Equatable {
    /// The revision of the hotel's document.
    let revision: RevisionID
    /// Where it stood.
    let place: BookmarkPlace
  }

  init(id: HotelID, revision: RevisionID, former: Former?) {
    self.id = id
    self.revision = revision
    self.former = former
  }

  /// Reads a step as ``append(to:)`` wrote it; nil for anything else.
  init?(_ node: JSONNode) {
    guard Self.has(only: ["id", "rev", "former"], node),
      let id = node["id"]?.string.flatMap({ HotelID($0) }), let revision = Self.revision(node)
    else { return nil }
    self.init(id: id, revision: revision, former: node["former"].flatMap { Former($0) })
    if node["former"] != nil, former == nil { return nil }
  }

  /// Appends the step.
  func append(to bytes: inout [UInt8]) {
    bytes += #"{"id":"#.utf8
    JSONWriter.appendString(id.text, to: &bytes)
    bytes += #","rev":"\#(revision.description)""#.utf8
    if let former {
      let place = former.place
      bytes += #","former":{"rev":"\#(former.revision.description)","place":\#(place.number)"#.utf8
      for (name, id) in [("after", place.after), ("before", place.before)] {
        guard let id else { continue }
        bytes += #","\#(name)":"#.utf8
        JSONWriter.appendString(id.text, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "}"))
  }

  fileprivate static func has(only names: [String], _ node: JSONNode) -> Bool {
    node.members.allSatisfy { member in names.contains { member.nameEquals($0) } }
  }

  fileprivate static func revision(_ node: JSONNode) -> RevisionID? {
    node["rev"]?.string.flatMap { try? RevisionID($0) }
  }
}

extension Restoration.Former {
  fileprivate init?(_ node: JSONNode) {
    let neighbours = ["after", "before"].map { node[$0] }
    let ids = neighbours.map { $0?.string.flatMap { HotelID($0) } }
    guard Restoration.has(only: ["rev", "place", "after", "before"], node),
      zip(neighbours, ids).allSatisfy({ ($0 != nil) == ($1 != nil) }),
      let revision = Restoration.revision(node), let place = node["place"]?.int,
      (0...BookmarkCursor.maximumPlace).contains(place)
    else { return nil }
    self.init(
      revision: revision, place: BookmarkPlace(number: place, after: ids[0], before: ids[1]))
  }
}

/// Finds the hotels of a store that no list names, in slices: what a list that was lost to damage had, and the older one
/// in its place has not.
struct UnlistedHotels: Sendable {
  private var list: BookmarkList?
  private var waiting: [DocumentID] = []
  private var next = 0
  private var found: [(id: HotelID, created: Timestamp)] = []

  /// Nothing looked at as yet.
  init() {}

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: the hotels in the order in which they were bookmarked, once all are looked at.
  mutating func read(_ view: any StoreView) throws -> [HotelID]? {
    if list == nil {
      list = try ListReconciliation(view).list
      waiting = try view.ids(ofType: Hotel.type)
    }
    while next < waiting.count {
      let id = HotelID(waiting[next].text)
      next += 1
      if let id, list?.contains(id) == false, let document = try view.document(id.documentID),
        !document.isDeleted
      {
        found.append((id, document.created))
      }
      if Slice.isOver, next < waiting.count { return nil }
    }
    return found.sorted { ($0.created, $0.id.text) < ($1.created, $1.id.text) }.map(\.id)
  }
}

extension BookmarkMerge {
  /// Puts a list together again of which a revision was lost: hotels that are stored and on no list go to its end, in
  /// the order of their times. One that was taken off the list by another device and not deleted comes back, too: none
  /// is lost.
  static func restoreList(
    of store: DocumentStore, after damage: [Damage], at now: Timestamp
  ) async throws {
    let lists = BookmarkList.documentID.text
    guard damage.contains(where: { $0.id.equalsBytes(of: lists) }) else { return }
    let unlisted = try await store.read(inSlices: UnlistedHotels()) {
      hotels, view in try hotels.read(view)
    }
    guard !unlisted.isEmpty else { return }
    try await store.change([], at: now) { edit in edit.list(unlisted) }
  }
}
