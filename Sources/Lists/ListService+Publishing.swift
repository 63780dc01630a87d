import Documents
package import Hotels
import JSON
package import Stores

/// The result of publishing a draft.
package enum Publication: Sendable {
  /// The list's present bookmark; nil when the draft removed it.
  case bookmark(Bookmark?)
  /// The list's present note; nil when the draft removed it.
  case note(ListNote?)
}

/// The same lines of the list's note have changed since the draft began. Nothing was written.
package struct PublicationConflict: Error {
  /// The text that the draft began from.
  package let base: String?
  /// The list's present note.
  package let theirs: ListNote?
  /// The draft's text.
  package let mine: String?
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
  /// - Throws: ``PublicationConflict``; `missing` when there is no draft; `absent`, `quotaExceeded`; the stores' errors,
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
    } catch let conflict as PublicationConflict {
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
      changes.write(
        LocalEdit(ListKeys.publishing(draft.document, on: draft.list, by: author), nil))
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
      return .note(try await publishNote(title, draft, receipt, as: context, answer: answer))
    }
  }

  /// Merges the draft before the transaction, because a merge of long texts takes long, and checks in it that the note
  /// is still the one that was merged.
  /// - Returns: the list's present note; nil when the draft removed it.
  private func publishNote(
    _ title: String, _ draft: ListDraft, _ receipt: PublishedDraft, as context: WriteContext,
    answer: Answering<Publication>?
  ) async throws -> ListNote? {
    let name = draft.list.text
    let whole = answer.map { answer -> Answering<Attempt> in
      { if case .published(let note) = $0 { answer(.note(note)) } else { nil } }
    }
    return try await stores.withExisting(.list(draft.list)) { store in
      while true {
        let present = try await store.read { view in try NotePublication(draft, in: name, view) }
        let text = try await present.merged()
        let attempt = try await store.update(
          loading: [draft.document], as: context, answer: whole
        ) { changes -> Attempt in
          let stored = try changes.view.document(draft.document)
          guard try changes.local(receipt.id)?.body != receipt.mark else {
            return .published(try stored.flatMap { try ListNote($0, of: name) })
          }
          guard stored?.revision == present.stored else { return .changed }
          let note = try changes.publish(present, text, title, in: name)
          changes.write(LocalEdit(receipt.id, LocalDocument(revision: 1, body: receipt.mark)))
          return .published(note)
        }
        if case .published(let note) = attempt { return note }
      }
    }
  }

  /// What became of an attempt to publish a note.
  private enum Attempt {
    /// It is the list's present note; nil when the draft removed it.
    case published(ListNote?)
    /// The note was changed after it was merged.
    case changed
  }

  /// Removes the drafts that were published but not removed before the service stopped. Runs at every start.
  /// - Parameter limit: if other processes publish, too: a publication that began later is left alone.
  func finishPublications(begunBefore limit: Timestamp?) async throws -> [any Error] {
    typealias Begun = (list: AccountID, document: DocumentID, author: AccountID, note: LocalID)
    let begun: [Begun] = try await directory.read(orAbsent: []) { view in
      var begun: [Begun] = []
      try view.locals(ListKeys.range(ListKeys.publishingPrefix)) { id, note in
        let root = try ListDirectory.root(of: note)
        if let limit, limit.milliseconds <= Int64(root["at"]?.int ?? 0) { return true }
        if let list = root["list"]?.string.flatMap(AccountID.init),
          let document = root["document"]?.string, let author = ListKeys.last(of: id)
        {
          begun.append((list, DocumentID(stored: document), author, id))
        }
        return true
      }
      return begun
    }
    var failures: [any Error] = []
    for (list, document, author, note) in begun {
      do {
        try await finishPublication(of: document, on: list, by: author)
        try await stores.update(.system, as: .server) { changes in
          changes.write(LocalEdit(note, nil))
        }
      } catch { failures.append(error) }
    }
    return failures
  }

  private func finishPublication(
    of document: DocumentID, on list: AccountID, by author: AccountID
  ) async throws {
    let id = try ListDraft.id(of: document, on: list)
    let draft = try await stores.withStore(.user(author), creating: false) { store in
      try await store?.readInline { view in
        try view.document(id).flatMap { ListDraft($0, of: list) }
      } ?? nil
    }
    guard let draft else { return }
    let receipt = PublishedDraft(draft, by: author)
    let known = try await stores.withStore(.list(list), creating: false) { store in
      try await store?.readInline { view in try view.local(receipt.id)?.body } ?? nil
    }
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

/// A note's draft, and the note that it is published to.
private struct NotePublication: Sendable {
  let draft: ListDraft
  /// The list's present note; nil when there is none.
  let theirs: ListNote?
  /// The revision of the note's document, which may be a tombstone.
  let stored: RevisionID?
  /// The text that the draft began from.
  let base: String?

  /// - Throws: `occupied` when a document that is no note has the note's id.
  init(_ draft: ListDraft, in list: String, _ view: any StoreView) throws {
    self.draft = draft
    let document = try view.document(draft.document)
    stored = document?.revision
    theirs = try document.flatMap { try ListNote($0, of: list) }
    if let document, !document.isDeleted, theirs == nil {
      throw ServiceError(.occupied, "The document with this id is not a note")
    }
    base = try draft.base.flatMap { try view.body(draft.document, $0) }
      .flatMap { try ParsedJSON($0, limits: .stored).root["markdown"]?.string }
  }

  /// Whether the note is unchanged since the draft began.
  var isUnchanged: Bool { theirs?.revision == draft.base }

  /// The draft's text with what others have changed since; nil if both sides changed the same lines, and for a draft that
  /// removes the note.
  func merged() async throws -> String? {
    guard let mine = draft.markdown, !isUnchanged else { return draft.markdown }
    if let theirs, let base {
      return try await LineMerge.merged(base: base, theirs: theirs.markdown, mine: mine)
    }
    return theirs?.markdown.equalsBytes(of: mine) == true ? mine : nil
  }
}

extension StoreChanges {
  /// Writes the merged text of a note's draft to the list's note.
  /// - Returns: the note; nil when the draft removes it.
  /// - Throws: ``PublicationConflict``.
  fileprivate mutating func publish(
    _ publication: NotePublication, _ text: String?, _ title: String, in list: String
  ) throws -> ListNote? {
    let (draft, theirs) = (publication.draft, publication.theirs)
    let conflict = PublicationConflict(
      base: publication.base, theirs: theirs, mine: draft.markdown)
    guard draft.markdown != nil else {
      guard publication.isUnchanged || theirs == nil else { throw conflict }
      if theirs != nil, let tree = try view.tree(draft.document) {
        write(try Edit.deleteAllLeaves(draft.document, in: tree, limit: historyLimits))
      }
      return nil
    }
    guard let text else { throw conflict }
    return try putNote(draft.document, title, text, in: list, .none).note
  }
}
