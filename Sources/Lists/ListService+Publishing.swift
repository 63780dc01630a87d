import Documents
package import Hotels
package import Stores

/// The result of publishing a draft.
package enum Publication: Sendable {
  /// The list's present bookmark; nil when the draft removed it.
  case bookmark(Bookmark?)
  /// The list's present note; nil when the draft removed it.
  case note(ListNote?)
}

/// Publishing a draft for all members.
///
/// One commit of the list's store contains the change and a record of it: the local document
/// `published/<author>/<hash of the document's id>` with the draft's revision. This commit publishes the draft.
/// Afterwards the draft is removed from the author's store. A record in the system store exists during the whole
/// process. After a crash, the next start uses it to remove a draft that was already published. So no published
/// draft stays visible, and no draft is published twice.
extension ListService {
  /// Publishes a draft.
  /// - Throws: ``NoteConflict``; `missing` when there is no draft; `absent`, `quotaExceeded`; the stores' errors,
  ///   after which the caller may try again.
  package func publish(
    _ subject: ListDraft.Subject, on list: AccountID, of author: AccountID,
    as context: WriteContext, answer: Answering<Publication>? = nil
  ) async throws -> Publication {
    guard let draft = try await draft(subject, on: list, of: author) else {
      throw ServiceError.noDraft
    }
    try await note(publishing: draft, by: author, as: context)
    let publication: Publication
    do {
      publication = try await carryOut(draft, of: author, as: context, answer: answer)
    } catch let conflict as NoteConflict {
      try await endPublication(of: draft, by: author, as: context)
      throw conflict
    }
    try await remove(draft, of: author, as: context)
    try await endPublication(of: draft, by: author, as: context)
    // A right that ended during the write: the answer is an error.
    try await requireWriter(author, of: list)
    return publication
  }

  private func note(
    publishing draft: ListDraft, by author: AccountID, as context: WriteContext
  ) async throws {
    let (list, now) = (draft.list, now())
    try await stores.update(.system, as: context) { changes in
      changes.note(
        ListKeys.publishing(draft.document, on: list, by: author),
        [
          "list": .string(list.text), "document": .string(draft.document.text), "at": .time(now),
        ])
    }
  }

  private func endPublication(
    of draft: ListDraft, by author: AccountID, as context: WriteContext
  ) async throws {
    try await stores.update(.system, as: context) { changes in
      changes.write(LocalEdit(ListKeys.publishing(draft.document, on: draft.list, by: author), nil))
    }
  }

  private func carryOut(
    _ draft: ListDraft, of author: AccountID, as context: WriteContext,
    answer: Answering<Publication>?
  ) async throws -> Publication {
    let receipt = PublishedDraft(draft, by: author)
    switch draft.subject {
    case .bookmark(let id):
      let change = BookmarkPublication(
        id: id, content: draft.content, base: draft.base, receipt: receipt.id,
        mark: receipt.mark)
      let whole = answer.map { answer -> Answering<Bookmark?> in { answer(.bookmark($0)) } }
      return .bookmark(
        try await hotels.publish(change, in: .list(draft.list), as: context, answer: whole))
    case .note(let title):
      let change = try NoteChange(title, draft.markdown, on: draft.list, from: .seen(draft.base))
      return try await write(change, on: draft.list, as: context, answer: answer) {
        changes, merge in
        guard try changes.local(receipt.id)?.body != receipt.mark else {
          let stored = try changes.view.document(change.id)
          return .note(try stored.flatMap { try ListNote($0, of: change.list) })
        }
        guard let written = try changes.write(merge, .none) else { return nil }
        changes.write(LocalEdit(receipt.id, LocalDocument(revision: 1, body: receipt.mark)))
        return .note(written.note)
      }
    }
  }

  /// Removes the drafts that were published but not removed before the service stopped. Runs at every start.
  /// - Parameter limit: if other processes publish, too: a publication that began later is left alone.
  /// - Returns: the failures.
  func finishPublications(begunBefore limit: Timestamp?) async throws -> [any Error] {
    try await finishEach(in: ListKeys.range(ListKeys.publishingPrefix)) { note, author in
      guard let root = try await directory.record(note),
        limit.map({ Int64(root["at"]?.int ?? 0) < $0.milliseconds }) ?? true,
        let list = root["list"]?.string.flatMap(AccountID.init),
        let document = root["document"]?.string
      else { return }
      try await finishPublication(of: DocumentID(stored: document), on: list, by: author)
      try await stores.update(.system, as: .server) { $0.write(LocalEdit(note, nil)) }
    }
  }

  private func finishPublication(
    of document: DocumentID, on list: AccountID, by author: AccountID
  ) async throws {
    let id = try ListDraft.id(of: document, on: list)
    let draft =
      try await stores.readInline(.user(author)) { view in
        try view.document(id).flatMap { ListDraft($0, of: list) }
      } ?? nil
    guard let draft else { return }
    let receipt = PublishedDraft(draft, by: author)
    let known =
      try await stores.readInline(.list(list)) { view in try view.local(receipt.id)?.body } ?? nil
    if known == receipt.mark { try await remove(draft, of: author, as: .server) }
  }
}

/// The record of a published draft in the list's store.
struct PublishedDraft: Sendable {
  let id: LocalID
  /// The revision of the draft.
  let mark: [UInt8]

  init(_ draft: ListDraft, by author: AccountID) {
    id = LocalID(
      receipt: "published/" + author.text + "/" + Hex.digest(of: draft.document.text, digits: 32))
    mark = Array((draft.revision?.description ?? "").utf8)
  }
}
