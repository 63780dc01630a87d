package import Documents
package import Stores

/// A draft of a bookmark that is to be published in the shared list.
package struct BookmarkPublication: Sendable {
  let id: HotelID
  let content: [UInt8]?
  let base: RevisionID?
  let receipt: LocalID
  let mark: [UInt8]

  /// Makes a publication.
  /// - Parameter content: the new body of the hotel's document; nil to unbookmark the hotel.
  /// - Parameter base: the revision that the draft's author saw.
  /// - Parameter receipt: the local document in which the same commit stores `mark`. A publication whose mark is
  ///   stored already does nothing.
  package init(id: HotelID, content: [UInt8]?, base: RevisionID?, receipt: LocalID, mark: [UInt8]) {
    (self.id, self.content, self.base) = (id, content, base)
    (self.receipt, self.mark) = (receipt, mark)
  }
}

extension HotelService {
  /// Publishes a draft of a bookmark. It is merged member by member with what others have changed since. Where both
  /// changed the same member, the draft's value wins. The result is never a conflict.
  /// - Returns: the present bookmark; nil when the draft removed it.
  /// - Throws: `absent`, `occupied`, `quotaExceeded`, `invalidDocument`.
  package func publish(
    _ publication: BookmarkPublication, in name: StoreName, as context: WriteContext,
    answer: Answering<Bookmark?>? = nil
  ) async throws -> Bookmark? {
    let id = publication.id
    return try await change(name, creating: false, [id], as: context, answer: answer) { edit in
      guard try edit.local(publication.receipt)?.body != publication.mark else {
        return try edit.bookmark(id)
      }
      edit.locals.append(
        LocalEdit(publication.receipt, LocalDocument(revision: 1, body: publication.mark)))
      guard let body = try edit.merged(publication) else {
        _ = try edit.remove(id)
        return nil
      }
      let addition = HotelAddition(facts: Hotel(id: id, body: body))
      return try edit.add(addition.prepared()).bookmark
    } ?? nil
  }

  // MARK: The users who added bookmarks, in stores that several people write to

  /// Who added these hotels' documents to the store, by sync or otherwise. When a document was deleted and added
  /// again, the last time counts. For a bookmark with more changes than a store keeps revisions, the author of the
  /// oldest kept revision. Revisions written before authors were stored have none.
  /// - Throws: `store`.
  package func adders(of ids: [HotelID], in name: StoreName) async throws -> [HotelID: Author] {
    guard !ids.isEmpty else { return [:] }
    let authors = try await stores.each(ids, in: name) { id, view in
      try Self.firstAuthor(of: id.documentID, in: view)
    }
    return Dictionary(zip(ids, authors ?? []), uniquingKeysWith: { $1 }).compactMapValues { $0 }
  }

  /// The author of the oldest kept revision between the winner and the last tombstone before it.
  private static func firstAuthor(of id: DocumentID, in view: any StoreView) throws -> Author? {
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

extension BookmarkEdit {
  /// The draft's content, merged with the present bookmark; nil when the draft removes it. A draft has no attachments:
  /// what it names as such would be names without bytes here.
  fileprivate func merged(_ publication: BookmarkPublication) throws -> DocumentBody? {
    guard let content = publication.content else { return nil }
    let mine = try DocumentBody(parsing: content, limits: .request).with([])
    guard let theirs = try bookmark(publication.id), theirs.revision != publication.base else {
      return mine
    }
    // An author who saw no bookmark, or one that is no longer stored, has changed only what the draft says.
    let before = try publication.base.flatMap { try view.body(publication.id.documentID, $0) }
    return HotelFacts.merged(
      into: mine.bytes, former: before ?? Array("{}".utf8), facts: theirs.hotel) ?? mine
  }
}

extension HotelAddition {
  /// The body that a bookmark of this hotel would have.
  /// - Throws: `unknownHotel` when there is none; `invalidDocument`, `tooLarge`.
  package func bodyOfDraft() throws -> DocumentBody {
    let addition = try prepared()
    guard let body = addition.body else { throw isUnknown }
    return body
  }
}
