import Documents
import Hotels
import Stores

/// A change that one of an author's devices saves as a draft, put together with the draft that another device has saved.
///
/// A device that began from an earlier state of the draft, or from the list's document without the draft, has not seen
/// what was saved since. Both changes stay, by the rules that hold for two people: a note is merged by lines, and where
/// both changed the same lines nothing is written; a bookmark is merged by member.
struct DraftMerge: Sendable {
  let subject: ListDraft.Subject
  /// The revision of the draft's document, which may be a tombstone; nil when it was never used.
  let stored: RevisionID?
  /// The present draft.
  let known: ListDraft?
  /// What the draft will say; nil to remove the list's document.
  private(set) var content: [UInt8]?
  /// The revision of the list's document on which the draft will be based.
  private(set) var base: RevisionID?
  /// The revision of the draft from which the change began; nil when it began from the list's document.
  private let began: RevisionID?
  /// What the draft said then; nil also when that is not stored any more.
  private let former: [UInt8]?
  /// The present revision of the list's document.
  private let published: RevisionID?

  /// Reads what a change has to be merged with.
  /// - Parameter base: the revision from which the change began, of the list's document or of the draft.
  /// - Parameter published: the present revision of the list's document.
  /// - Parameter view: the author's own store.
  init(
    _ subject: ListDraft.Subject, _ content: [UInt8]?, from base: ListDraft.Base,
    on list: AccountID, _ published: RevisionID?, _ view: any StoreView
  ) throws {
    let id = try ListDraft.id(of: subject.document(in: list), on: list)
    let document = try view.document(id)
    let known = document.flatMap { ListDraft($0, of: list) }
    (self.subject, self.content, self.known) = (subject, content, known)
    self.published = published
    stored = document?.revision
    switch base {
    case .present:
      (began, former) = (known?.revision, known?.content)
      self.base = known == nil ? published : known?.base
    case .seen(let seen):
      guard let seen, let document, try view.tree(id)?[seen] != nil else {
        (began, former, self.base) = (nil, nil, seen)
        return
      }
      let draft = try view.body(id, seen).flatMap { body in
        ListDraft(
          Document(
            id: id, revision: seen, isDeleted: false, sequence: document.sequence,
            created: document.created, updated: document.updated, body: body), of: list)
      }
      (began, former, self.base) = (seen, draft?.content, draft?.base)
    }
  }

  /// Puts the change together with a draft that its author has not seen. It takes long for long texts, and gives way.
  /// - Parameter read: reads a revision of the list's document; nil for one that is not stored.
  /// - Throws: ``NoteConflict``; `invalidDocument`, `tooLarge`.
  mutating func merge(_ read: (RevisionID) async throws -> [UInt8]?) async throws {
    guard let known, known.revision != began else { return }
    if began != nil {
      content = try await merged(former, known.content, content)
      base = known.base
      return
    }
    let seen: [UInt8]? = if let base { try await read(base) } else { nil }
    guard seen != nil || base == nil else {
      // What the author has seen is not stored any more, or never was.
      content = try await merged(nil, known.content, content)
      base = known.base
      return
    }
    guard sawRemoval || (base?.generation ?? 0) > (known.base?.generation ?? 0) else {
      content = try await merged(seen, known.content, content)
      base = known.base
      return
    }
    // The author has seen changes of others that the draft has not. If they conflict with the draft, the author has put
    // them together, as the answer to publishing asks for.
    let before: [UInt8]? = if let base = known.base { try await read(base) } else { nil }
    let moved: [UInt8]?
    do { moved = try await merged(before, known.content, seen) } catch is NoteConflict { return }
    content = try await merged(seen, moved, content)
  }

  /// Whether the author has seen that others have removed the note on which the draft is based.
  private var sawRemoval: Bool {
    guard case .note = subject else { return false }
    return base == nil && published == nil && known?.base != nil
  }

  /// Merges two contents that began from a former one.
  private func merged(
    _ former: [UInt8]?, _ theirs: [UInt8]?, _ mine: [UInt8]?
  ) async throws -> [UInt8]? {
    guard let theirs else { return mine }
    switch subject {
    case .bookmark(let id):
      guard let mine else { return nil }
      let body = HotelFacts.merged(into: mine, former: former ?? Array("{}".utf8), facts: theirs)
      guard let body else { return mine }
      return try HotelAddition(facts: Hotel(id: id, body: body)).bodyOfDraft().bytes
    case .note:
      let (base, other, own) = (
        Self.markdown(former), Self.markdown(theirs) ?? "", Self.markdown(mine)
      )
      var text: String?
      if let own, let base {
        text = try await LineMerge.merged(base: base, theirs: other, mine: own)
      } else if let own, own.equalsBytes(of: other) {
        text = own
      } else if mine == nil, base?.equalsBytes(of: other) == true {
        return nil
      }
      guard let text else {
        throw NoteConflict(base: base, theirs: known?.note(over: nil), mine: own)
      }
      let content: JSONValue = ["markdown": .string(text)]
      return try DocumentBody(content).bytes
    }
  }

  private static func markdown(_ content: [UInt8]?) -> String? {
    content.flatMap { try? ParsedJSON($0, limits: .stored).root["markdown"]?.string }
  }
}
