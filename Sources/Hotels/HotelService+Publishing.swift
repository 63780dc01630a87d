package import Documents
import JSON
import Lanes
package import Stores

/// A draft of a bookmark that is to become the list's.
package struct BookmarkPublication: Sendable {
  let id: HotelID
  let content: [UInt8]?
  let base: RevisionID?
  let receipt: LocalID
  let mark: [UInt8]

  /// A draft's change.
  /// - Parameter content: what the hotel's document is to say; nil to unbookmark it.
  /// - Parameter base: the revision that the draft's author saw.
  /// - Parameter receipt: where the change is noted in the same commit, with `mark`; what is noted is not done again.
  package init(
    id: HotelID, content: [UInt8]?, base: RevisionID?, receipt: LocalID, mark: [UInt8]
  ) {
    (self.id, self.content, self.base) = (id, content, base)
    (self.receipt, self.mark) = (receipt, mark)
  }
}

extension HotelService {
  /// Makes a draft of a bookmark the store's, merged member by member with what others have changed since: where both
  /// changed one member, the draft's value stands. Never a conflict.
  /// - Returns: the bookmark as it is now; nil where it was removed.
  /// - Throws: `absent`, `occupied`, `quotaExceeded`, `invalidDocument`.
  package func publish(
    _ publication: BookmarkPublication, in name: StoreName
  ) async throws -> Bookmark? {
    let id = publication.id
    _ = try await change(name, creating: false, [id]) { edit in
      guard try edit.local(publication.receipt)?.body != publication.mark else { return }
      if let body = try edit.merged(publication) {
        _ = try edit.add(HotelAddition(facts: Hotel(id: id, body: body)).prepared())
      } else {
        _ = try edit.remove(id)
      }
      edit.locals.append(
        LocalEdit(publication.receipt, LocalDocument(revision: 1, body: publication.mark)))
    }
    return try await bookmark(id, in: name)
  }
}

extension BookmarkEdit {
  /// What a draft comes to over the bookmark as it is; nil where the draft removes it.
  fileprivate func merged(_ publication: BookmarkPublication) throws -> DocumentBody? {
    guard let content = publication.content else { return nil }
    let mine = try DocumentBody(parsing: content, limits: .request)
    guard let theirs = try bookmark(publication.id), theirs.revision != publication.base,
      let base = publication.base,
      let before = try view.body(publication.id.documentID, base)
    else { return mine }
    return HotelFacts.merged(into: content, former: before, facts: theirs.hotel) ?? mine
  }
}

extension HotelAddition {
  /// What a bookmark of this hotel would say.
  /// - Throws: `unknownHotel` where that is not known; `invalidDocument`, `tooLarge`.
  package func bodyOfDraft() throws -> DocumentBody {
    let addition = try prepared()
    guard let body = addition.body else { throw isUnknown }
    return body
  }
}

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
