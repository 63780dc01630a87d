package import Documents
package import Hotels
import Scheduling
package import Stores

/// A member's own drafts on a list. The caller has checked that the member may make them.
extension ListService {
  /// Saves a draft that only its author sees. What another device of the author has saved since `base` stays; see
  /// ``DraftMerge``. A change whose condition names the present draft replaces it.
  /// - Parameter content: the new content of the bookmark or the note; nil to remove it.
  /// - Parameter base: the revision from which the change began. Publishing compares with it to find what others
  ///   have changed since.
  /// - Parameter condition: checked against the revision that the author sees: the draft's, or the list's when
  ///   there is no draft.
  /// - Returns: the draft, and whether there was none before.
  /// - Throws: ``NoteConflict``, `precondition`, `quotaExceeded`, `invalidDocument`, `absent`.
  package func save(
    _ subject: ListDraft.Subject, _ content: DocumentBody?, on list: AccountID,
    of author: AccountID, base: ListDraft.Base, condition: RevisionCondition,
    as context: WriteContext, answer: Answering<(draft: ListDraft, isNew: Bool)>? = nil
  ) async throws -> (draft: ListDraft, isNew: Bool) {
    let published = try await publishedRevision(subject, on: list)
    let isFirst = try await draft(subject, on: list, of: author) == nil
    let drafts = try await drafts(on: list, of: author)
    let bytes = drafts.reduce(content?.bytes.count ?? 0) { $0 + ($1.content?.count ?? 0) }
    guard !isFirst || drafts.count < ListLimits.drafts, bytes < ListLimits.draftBytes else {
      throw ServiceError(
        .quotaExceeded,
        "At most \(ListLimits.drafts) drafts on a list, and \(ListLimits.draftBytes) bytes: publish "
          + "or discard some")
    }
    let document = try subject.document(in: list)
    let id = try ListDraft.id(of: document, on: list)
    let whole = answer.map { answer -> Answering<(draft: ListDraft, isNew: Bool)?> in
      { $0.flatMap(answer) }
    }
    for _ in 0..<ListLimits.mergeAttempts {
      let store = StoreName.user(author)
      var merge = try await stores.withStore(store, creating: false) { [stores] known in
        try await (known ?? stores.absent(store)).read { view in
          try DraftMerge(subject, content?.bytes, from: base, on: list, published, view)
        }
      }
      if case .matches = condition {
      } else {
        try condition.check(merge.known.map { $0.content == nil ? nil : $0.revision } ?? published)
        try await merge.merge { revision in
          try await stores.withExisting(.list(list)) { store in
            try await store.read { view in try view.body(document, revision) }
          }
        }
      }
      let saved = try await stores.update(
        store, loading: [id], as: context, answer: whole
      ) { [merge] changes -> (draft: ListDraft, isNew: Bool)? in
        let (stored, known) = (try changes.view.document(id), merge.known)
        guard stored?.revision == merge.stored else { return nil }
        try condition.check(known.map { $0.content == nil ? nil : $0.revision } ?? published)
        var draft = try ListDraft(of: subject, on: list, base: merge.base, content: merge.content)
        try draft.write(over: stored, in: &changes)
        return (draft, known == nil)
      }
      if let saved { return saved }
    }
    throw ServiceError(.overloaded, "The author's devices change the draft too fast")
  }

  /// One draft; nil when there is none, and for a title that no note can have.
  package func draft(
    _ subject: ListDraft.Subject, on list: AccountID, of author: AccountID
  ) async throws -> ListDraft? {
    guard let document = try? subject.document(in: list),
      let id = try? ListDraft.id(of: document, on: list)
    else { return nil }
    return try await stores.readInline(.user(author)) { view in
      try view.document(id).flatMap { ListDraft($0, of: list) }
    } ?? nil
  }

  /// All drafts of an author on a list, in the order of their documents' ids.
  package func drafts(on list: AccountID, of author: AccountID) async throws -> [ListDraft] {
    try await stores.read(.user(author), inSlices: ListDraftsReader(on: list)) { reader, view in
      try reader.read(view) ? reader.drafts : nil
    } ?? []
  }

  /// Discards a draft.
  /// - Throws: `missing` when there is none; `precondition`.
  package func discard(
    _ subject: ListDraft.Subject, on list: AccountID, of author: AccountID,
    condition: RevisionCondition = .none, as context: WriteContext, answer: Answering<Void>? = nil
  ) async throws {
    guard let draft = try await draft(subject, on: list, of: author) else {
      throw ServiceError.noDraft
    }
    try condition.check(draft.revision, of: "draft")
    try await remove(draft, of: author, as: context, answer: answer)
  }

  /// Removes a draft, unless it has changed since it was read.
  func remove(
    _ draft: ListDraft, of author: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    let id = try ListDraft.id(of: draft.document, on: draft.list)
    try await stores.updateIfPresent(.user(author), loading: [id], as: context, answer: answer) {
      changes in
      guard let stored = try changes.view.document(id), !stored.isDeleted,
        stored.revision == draft.revision
      else { return }
      try changes.delete(id, base: stored.revision)
    }
  }

  /// The revision of the list's own document; nil for none.
  private func publishedRevision(
    _ subject: ListDraft.Subject, on list: AccountID
  ) async throws -> RevisionID? {
    let id = try subject.document(in: list)
    return try await stores.withExisting(.list(list)) { store in
      try await store.readInline { view in
        try view.document(id).flatMap { $0.isDeleted ? nil : $0.revision }
      }
    }
  }

  // MARK: Removing drafts when their list is deleted, or their author's membership ends

  /// Removes all drafts of a former member, and what the list's store keeps for them alone: local documents and answers.
  /// Then it removes the record that this is still to do. The list's store learns before who the members are, so that
  /// nothing of the former one comes after.
  func removeDrafts(
    on list: AccountID, of author: AccountID, as context: WriteContext
  ) async throws {
    try await show(list)
    // An author who has joined again keeps the remaining drafts, and all that is saved since.
    guard try await directory.role(of: author, in: list) == nil else { return }
    try await stores.withStore(.list(list), creating: false) { store in
      try await store?.forget(writer: author)
    }
    while true {
      let drafts = try await drafts(on: list, of: author)
      guard !drafts.isEmpty else { break }
      guard try await directory.role(of: author, in: list) == nil else { return }
      let read = try drafts.map { (try ListDraft.id(of: $0.document, on: list), $0.revision) }
      try await stores.updateIfPresent(
        .user(author), loading: Set(read.map(\.0)), as: context
      ) { changes in
        for (id, revision) in read {
          guard let tree = try changes.view.newest(id), tree.winner?.revision == revision
          else { continue }
          changes.write(try Edit.deleteAllLeaves(id, in: tree, limit: changes.historyLimits))
        }
      }
      try await Slice.giveWay()
    }
    try await stores.update(.system, as: context) { changes in
      guard try changes.role(of: author, in: list) == nil else { return }
      changes.write(LocalEdit(ListKeys.endedDrafts(of: author, on: list), nil))
    }
  }

  /// Removes the drafts that a crash or a failure left behind.
  /// - Returns: the failures.
  func removeEndedDrafts() async throws -> [any Error] {
    try await finishEach(in: ListKeys.range(ListKeys.endedDraftsPrefix)) { note, author in
      guard let list = try await directory.record(note)?["list"]?.string.flatMap(AccountID.init)
      else { return }
      try await removeDrafts(on: list, of: author, as: .server)
    }
  }
}

extension ServiceError {
  static let noDraft = ServiceError(.missing, "There is no such draft")
}
