import Documents
import Lanes
package import Stores

/// Who has bookmarked what, in stores that several people write to.
extension HotelService {
  /// Who brought the present life of some hotels' documents here, by sync or otherwise. Of a bookmark that was changed more
  /// often than a store keeps revisions, whoever wrote the oldest one that is kept.
  /// - Throws: `store`.
  package func adders(
    of ids: [HotelID], in name: StoreName
  ) async throws -> [HotelID: Author] {
    guard !ids.isEmpty else { return [:] }
    return try await read(name, inSlices: AddersReader(ids)) { reader, view in
      try reader.read(view) ? reader.found : nil
    } ?? [:]
  }
}

/// Looks for the first author of some hotels' documents, in slices.
struct AddersReader: Sendable {
  private let ids: [HotelID]
  private var next = 0
  /// The authors so far; none for revisions of before authors were noted.
  private(set) var found: [HotelID: Author] = [:]

  init(_ ids: [HotelID]) { self.ids = ids }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether all are looked up.
  mutating func read(_ view: any StoreView) throws -> Bool {
    while next < ids.count {
      let id = ids[next]
      if let author = try Self.first(id.documentID, in: view) { found[id] = author }
      next += 1
      if Slice.isOver { break }
    }
    return next == ids.count
  }

  /// The author of the oldest kept revision between the winner and the tombstone before it.
  private static func first(_ id: DocumentID, in view: any StoreView) throws -> Author? {
    guard let tree = try view.tree(id) else { return nil }
    var author: Author?
    var node = tree.winner
    for _ in 0...StoreLimits.storedAncestors {
      guard let present = node, !present.isDeleted,
        let kept = try view.kept(id, present.revision)
      else { break }
      author = kept.arrival?.author ?? author
      node = present.parent.map { tree.nodes[$0] }
    }
    return author
  }
}
