import Documents
package import Hotels
package import Stores

/// The same lines of a list's note were changed in two ways since one revision. Nothing was written.
package struct NoteConflict: Error {
  /// The text from which the change began; nil when there was none, or when it is not stored any more.
  package let base: String?
  /// The list's present note; nil when there is none.
  package let theirs: ListNote?
  /// The text that was to be written; nil to remove the note.
  package let mine: String?
}

struct NoteChange: Sendable {
  let title: String
  /// The new text; nil to remove the note.
  let markdown: String?
  /// The list's id.
  let list: String
  let id: DocumentID
  /// The revision from which the change began.
  let base: ListDraft.Base

  init(_ title: String, _ markdown: String?, on list: AccountID, from base: ListDraft.Base) throws {
    id = try ListNote.id(title, in: list.text)
    self.markdown = try markdown.map(ListText.markdown)
    (self.title, self.list, self.base) = (title, list.text, base)
  }
}

/// A change of a note, put together with what others have changed since it began.
struct NoteMerge: Sendable {
  let change: NoteChange
  /// The list's present note; nil when there is none.
  let theirs: ListNote?
  /// The revision of the note's document, which may be a tombstone.
  let stored: RevisionID?
  /// Whether the note is unchanged since the change began.
  let isUnchanged: Bool
  /// The text from which the change began; nil when there was none, or when it is not stored any more.
  let base: String?
  /// The merged text; nil if the texts can't be merged, and for a change that removes the note.
  private(set) var text: String?

  /// Reads what a change has to be merged with.
  /// - Parameter base: the text from which it began, if that was read before: the revision may be too old by now.
  /// - Throws: `occupied` when a document that is no note has the id of a note to write.
  init(_ change: NoteChange, _ view: any StoreView, from base: String? = nil) throws {
    self.change = change
    let document = try view.document(change.id)
    stored = document?.revision
    theirs = try document.flatMap { try ListNote($0, of: change.list) }
    if let document, !document.isDeleted, theirs == nil, change.markdown != nil {
      throw ServiceError(.occupied, "The document with this id is not a note")
    }
    let seen: RevisionID?
    switch change.base {
    case .present: (seen, isUnchanged) = (nil, true)
    case .seen(let revision): (seen, isUnchanged) = (revision, theirs?.revision == revision)
    }
    self.base =
      try base
      ?? seen.flatMap { try view.body(change.id, $0) }
      .flatMap { try ParsedJSON($0, limits: .stored).root["markdown"]?.string }
    text = change.markdown
  }

  /// The error of a change that can't be merged.
  var conflict: NoteConflict { NoteConflict(base: base, theirs: theirs, mine: change.markdown) }

  /// Merges the texts by lines. It takes long for long texts, and gives way.
  mutating func merge() async throws {
    guard let mine = change.markdown, !isUnchanged else { return }
    if let theirs, let base {
      text = try await LineMerge.merged(base: base, theirs: theirs.markdown, mine: mine)
    } else if theirs?.markdown.equalsBytes(of: mine) != true {
      text = nil
    }
  }
}

extension ListService {
  /// Writes a note's text. What others have changed since it began stays.
  /// - Parameter condition: checked against the list's present note.
  /// - Returns: the note with the merged text, and whether it is new.
  /// - Throws: `absent`, `precondition`, `invalidDocument`, `documentTooLarge`, `quotaExceeded`; `occupied` when a
  ///   document that is not a note has the id; ``NoteConflict``.
  package func putNote(
    _ title: String, _ markdown: String, from base: ListDraft.Base = .present,
    on list: AccountID, condition: RevisionCondition, as context: WriteContext,
    answer: Answering<(note: ListNote, isNew: Bool)>? = nil
  ) async throws -> (note: ListNote, isNew: Bool) {
    let change = try NoteChange(title, markdown, on: list, from: base)
    return try await write(change, on: list, as: context, answer: answer) { changes, merge in
      guard let written = try changes.write(merge, condition) else { return nil }
      guard let note = written.note else { throw ServiceError.noNote }
      return (note, written.isNew)
    }
  }

  /// Removes a note: a tombstone on each of its live leaves. A note that others have changed since its author saw it
  /// stays.
  /// - Throws: `absent`, `missing`, `precondition`, ``NoteConflict``.
  package func removeNote(
    _ title: String, from base: ListDraft.Base, of list: AccountID, condition: RevisionCondition,
    as context: WriteContext, answer: Answering<Void>? = nil
  ) async throws {
    let change = try NoteChange(title, nil, on: list, from: base)
    try await write(change, on: list, as: context, answer: answer) { changes, merge -> Void? in
      try changes.write(merge, condition).map { _ in
        guard merge.theirs != nil else { throw ServiceError.noNote }
      }
    }
  }

  /// Merges a change before the transaction, because a merge of long texts takes long, and again if the note has changed
  /// before it was written. A note that others change all the time is a conflict.
  /// - Parameter attempt: writes the merged change; nil if the note is not the one that was merged
  ///   (``StoreChanges/write(_:_:)``).
  func write<Outcome: Sendable>(
    _ change: NoteChange, on list: AccountID, as context: WriteContext,
    answer: Answering<Outcome>?,
    attempt: @escaping @Sendable (inout StoreChanges, NoteMerge) throws -> Outcome?
  ) async throws -> Outcome {
    let whole = answer.map { answer -> Answering<Outcome?> in { $0.flatMap(answer) } }
    return try await stores.withExisting(.list(list)) { store in
      var (attempts, base) = (0, String?.none)
      while true {
        var merge = try await store.read { [base] view in
          try NoteMerge(change, view, from: base)
        }
        base = merge.base
        guard attempts < ListLimits.mergeAttempts else { throw merge.conflict }
        attempts += 1
        try await merge.merge()
        let outcome = try await store.update(loading: [change.id], as: context, answer: whole) {
          [merge] changes in try attempt(&changes, merge)
        }
        if let outcome { return outcome }
      }
    }
  }
}

extension StoreChanges {
  /// Writes a merged change of a note.
  /// - Returns: the list's note, which is nil when the change removes it, and whether it is new; nil if the note has changed
  ///   since it was merged.
  /// - Throws: ``NoteConflict``, `precondition`, and as `put`.
  mutating func write(
    _ merge: NoteMerge, _ condition: RevisionCondition
  ) throws -> (note: ListNote?, isNew: Bool)? {
    let change = merge.change
    var merge = merge
    // A change without a base is merged with nothing, and applies to whatever is stored now.
    if case .present = change.base { merge = try NoteMerge(change, view) }
    let (document, known) = (try view.document(change.id), merge.theirs)
    guard document?.revision == merge.stored else { return nil }
    try condition.check(known?.revision, of: "note")
    guard change.markdown != nil else {
      guard merge.isUnchanged || known == nil else { throw merge.conflict }
      if known != nil, let tree = try view.tree(change.id) {
        write(try Edit.deleteAllLeaves(change.id, in: tree, limit: historyLimits))
      }
      return (nil, false)
    }
    guard let text = merge.text else { throw merge.conflict }
    if let known, known.markdown.equalsBytes(of: text) { return (known, false) }
    let former = known == nil ? nil : document
    let body = try ListNote.body(
      change.title, text, in: change.list,
      over: former.flatMap { try JSONValue(parsing: $0.body, limits: .stored).object }, at: time)
    let note = ListNote(
      change.title, markdown: text, revision: try put(change.id, base: known?.revision, body: body),
      createdAt: known?.createdAt ?? time, updatedAt: time)
    return (note, known == nil)
  }
}
