import Documents
package import Hotels
import JSON
package import Stores

/// What publishing a draft came to.
package enum Publication: Sendable {
  /// The list's bookmark as it is now; nil where it was removed.
  case bookmark(Bookmark?)
  /// The list's note as it is now; nil where it was removed.
  case note(ListNote?)
  /// The list's note has changed in the same lines: nothing was done.
  case conflict(base: String?, theirs: ListNote?, mine: String?)
}

/// Making a draft everybody's.
///
/// The change and a note of it (`published/<author>`, by document, with the draft's revision) are one commit of the list's
/// store; that commit is the moment at which the draft is published. The draft itself, in the author's store, goes after
/// it. A crash in between leaves a note in the system store, by which the next start removes the draft: nobody sees a draft
/// that is published, and none is published twice.
extension ListService {
  /// Publishes a draft.
  /// - Throws: `missing` where there is none; `absent`, `quotaExceeded`; the stores' errors, after which it may be tried
  ///   again.
  package func publish(
    _ subject: ListDraft.Subject, on list: AccountID, of author: AccountID
  ) async throws -> Publication {
    guard let draft = try await draft(subject, on: list, of: author) else {
      throw ServiceError.noDraft
    }
    try await WriteReceipt.aside {
      try await note(publishing: draft, by: author)
    }
    let publication = try await carryOut(draft, of: author)
    try await WriteReceipt.aside {
      if case .conflict = publication {} else { try await remove(draft, of: author) }
      try await directory.update { changes in
        changes.write(
          LocalEdit(ListKeys.publishing(draft.document, on: list, by: author), nil))
      }
    }
    return publication
  }

  private func note(publishing draft: ListDraft, by author: AccountID) async throws {
    let list = draft.list
    try await directory.update { changes in
      changes.note(
        ListKeys.publishing(draft.document, on: list, by: author),
        ["list": .string(list.text), "document": .string(draft.document.text)])
    }
  }

  private func carryOut(_ draft: ListDraft, of author: AccountID) async throws -> Publication {
    let receipt = PublishedDraft(draft, by: author)
    switch draft.subject {
    case .bookmark(let id):
      let change = BookmarkPublication(
        id: id, content: draft.content, base: draft.base, receipt: receipt.id,
        mark: receipt.mark)
      return .bookmark(try await hotels.publish(change, in: .list(draft.list)))
    case .note(let title):
      return try await publishNote(title, draft, receipt)
    }
  }

  private func publishNote(
    _ title: String, _ draft: ListDraft, _ receipt: PublishedDraft
  ) async throws -> Publication {
    let (name, now) = (draft.list.text, now())
    return try await stores.withExisting(.list(draft.list)) { store in
      let conflict = try await store.update(loading: [draft.document]) { changes -> Publication? in
        guard try changes.local(receipt.id)?.body != receipt.mark else { return nil }
        let conflict = try changes.publish(draft, title, in: name, at: now)
        guard conflict == nil else { return conflict }
        changes.write(LocalEdit(receipt.id, LocalDocument(revision: 1, body: receipt.mark)))
        return nil
      }
      if let conflict { return conflict }
      return .note(
        try await store.readInline { view in
          try view.document(draft.document).flatMap { try ListNote($0, of: name) }
        })
    }
  }

  /// Removes the drafts that were published when the service stopped; once at every start.
  func finishPublications() async throws -> [any Error] {
    typealias Begun = (list: AccountID, document: DocumentID, author: AccountID, note: LocalID)
    let begun: [Begun] = try await directory.read(orAbsent: []) { view in
      var begun: [Begun] = []
      try view.locals(ListKeys.range(ListKeys.publishingPrefix)) { id, note in
        let root = try ListDirectory.root(of: note)
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
        try await directory.update { changes in changes.write(LocalEdit(note, nil)) }
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
    if known == receipt.mark { try await remove(draft, of: author) }
  }
}

/// What the list's store notes of a published draft.
struct PublishedDraft: Sendable {
  /// The local document.
  let id: LocalID
  /// Which revision of the draft it was.
  let mark: [UInt8]

  init(_ draft: ListDraft, by author: AccountID) {
    id = LocalID(
      receipt: "published/" + author.text + "/" + Hex.digest(of: draft.document.text, digits: 32))
    mark = Array((draft.revision?.description ?? "").utf8)
  }
}

extension StoreChanges {
  /// Records what a draft of a note changes, merged with what others have changed since.
  /// - Returns: the conflict, where lines were changed on both sides; nothing is recorded then.
  fileprivate mutating func publish(
    _ draft: ListDraft, _ title: String, in list: String, at now: Timestamp
  ) throws -> Publication? {
    let stored = try view.document(draft.document)
    let theirs = try stored.flatMap { try ListNote($0, of: list) }
    if let stored, !stored.isDeleted, theirs == nil {
      throw ServiceError(.occupied, "A document that is no note has this id")
    }
    let base = try draft.base.flatMap { try view.body(draft.document, $0) }
      .flatMap { try ParsedJSON($0, limits: .stored).root["markdown"]?.string }
    let isUnchanged = theirs?.revision == draft.base
    guard let mine = draft.markdown else {
      guard isUnchanged || theirs == nil else {
        return .conflict(base: base, theirs: theirs, mine: nil)
      }
      if theirs != nil, let tree = try view.tree(draft.document) {
        write(try Edit.deleteAllLeaves(draft.document, in: tree, limit: historyLimits))
      }
      return nil
    }
    var text: String? = mine
    if !isUnchanged {
      if let theirs, let base {
        text = LineMerge.merged(base: base, theirs: theirs.markdown, mine: mine)
      } else if theirs?.markdown.equalsBytes(of: mine) != true {
        text = nil
      }
    }
    guard let text else { return .conflict(base: base, theirs: theirs, mine: mine) }
    _ = try putNote(
      draft.document, title, text, in: list, .none, at: now)
    return nil
  }
}
