package import Documents
import Scheduling
import Stores

/// One step of an undo: the state in which a batch left one bookmark, and the state before it.
///
/// `{"id","rev","former":{"rev","place","after","before"}}`, without `former` for a bookmark that the batch made.
/// The bookmark's former contents are in the document's history. Its tombstone keeps its creation time.
package struct Restoration: Sendable, Equatable {
  package let id: HotelID
  /// The revision that the batch made, a tombstone or not. If the document has another revision, it has changed
  /// since.
  package let revision: RevisionID
  /// The bookmark before the batch; nil for none.
  package let former: Former?

  /// A bookmark as it was.
  package struct Former: Sendable, Equatable {
    /// The revision of the hotel's document.
    let revision: RevisionID
    /// Its position in the list.
    let position: BookmarkPosition
  }
}

extension Restoration {
  /// Reads a step as ``appendMembers(to:)`` wrote it; nil for anything else.
  init?(_ node: JSONNode) {
    guard Self.has(only: ["id", "rev", "former"], node),
      let id = node["id"]?.string.flatMap({ HotelID($0) }), let revision = Self.revision(node)
    else { return nil }
    self.init(id: id, revision: revision, former: node["former"].flatMap { Former($0) })
    if node["former"] != nil, former == nil { return nil }
  }

  /// Writes the step's members.
  func appendMembers(to writer: inout JSONWriter) {
    writer.member("id", id.text)
    writer.member("rev", revision.description)
    guard let former else { return }
    writer.object("former") { writer in
      writer.member("rev", former.revision.description)
      writer.member("place", former.position.number)
      if let id = former.position.after { writer.member("after", id.text) }
      if let id = former.position.before { writer.member("before", id.text) }
    }
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
      let revision = Restoration.revision(node), let number = node["place"]?.int,
      (0...BookmarkCursor.maximumPosition).contains(number)
    else { return nil }
    self.init(
      revision: revision, position: BookmarkPosition(number: number, after: ids[0], before: ids[1]))
  }
}

/// Finds the hotels of a store that are on no list, in slices. Such hotels exist when damage destroyed a list and
/// an older revision replaced it.
struct UnlistedHotels: Sendable {
  private var lists = ListReader()
  private var list: BookmarkList?
  /// The sequence of the last hotel that was examined.
  private var last: Int64 = 0
  /// The creation times of the hotels found so far. One that changes between two slices is examined again.
  private var found: [HotelID: Timestamp] = [:]

  /// Makes a value that has read nothing yet.
  init() {}

  /// Continues in a state of the store until the slice is over.
  /// - Returns: the hotels in the order of their creation times, once all are read; nil before.
  mutating func read(_ view: any StoreView) throws -> [HotelID]? {
    if list == nil {
      guard let read = try lists.read(view) else { return nil }
      list = read.list
    }
    while true {
      let page = try view.changes(ofType: Hotel.type, after: last, limit: 100)
      if page.isEmpty { break }
      for change in page {
        if let id = HotelID(change.id.text), list?.contains(id) == false,
          let document = try view.document(id.documentID), !document.isDeleted
        {
          found[id] = document.created
        }
        last = change.sequence
        if view.slice.isOver { return nil }
      }
    }
    return found.sorted { ($0.value, $0.key.text) < ($1.value, $1.key.text) }.map(\.key)
  }
}

extension BookmarkMerge {
  /// Repairs the list after damage destroyed a revision of it. Stored hotels that are on no list are appended in
  /// the order of their times. This includes a hotel that another device took off the list without deleting it. No
  /// hotel is lost.
  static func restoreList(
    of store: DocumentStore, after damage: [Damage], at now: Timestamp
  ) async throws {
    let lists = BookmarkList.documentID.text
    guard damage.contains(where: { $0.id.equalsBytes(of: lists) }) else { return }
    let unlisted = try await store.read(inSlices: UnlistedHotels()) {
      hotels, view in try hotels.read(view)
    }
    guard !unlisted.isEmpty else { return }
    try await store.change([], at: now, as: .server) { edit in edit.list(unlisted) }
  }
}

/// A request to restore an earlier revision of a document.
package struct RestoreRequest: Sendable, Equatable {
  /// The revision to restore.
  package let revision: RevisionID
  /// The revision that was the document's winner when the person decided; nil for any.
  package let base: RevisionID?

  package init(revision: RevisionID, base: RevisionID? = nil) {
    self.revision = revision
    self.base = base
  }
}

/// The result of restoring a revision.
package struct RestoreOutcome: Sendable, Equatable {
  /// The new revision, or the present winner when nothing had to be changed.
  package let revision: RevisionID
  /// Whether it is a tombstone.
  package let isDeleted: Bool
  /// For a list: the hotels of the restored list that could not be restored, because their contents are no longer
  /// stored.
  package let missing: [HotelID]

  init(_ revision: RevisionID, isDeleted: Bool = false, missing: [HotelID] = []) {
    self.revision = revision
    self.isDeleted = isDeleted
    self.missing = missing
  }
}
