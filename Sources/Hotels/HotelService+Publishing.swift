package import Documents
import JSON
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
