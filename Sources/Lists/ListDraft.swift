package import Documents
package import Hotels
package import Stores

/// A change of a list's document that only its author sees until it is published.
///
/// A draft is a document of the author's own store with the id `draft:{list}:{document}`, so that it syncs with
/// that store only: `{"type":"draft","list","document","base"?,"deleted"?,"content"?}`. `base` is the revision of
/// the list's document that the author saw, absent when there was none. `content` is the document's new content.
package struct ListDraft: Sendable {
  static let type = "draft"

  /// The document that a draft changes.
  package enum Subject: Sendable, Equatable {
    case bookmark(HotelID)
    /// A note, by its title.
    case note(String)

    func document(in list: AccountID) throws -> DocumentID {
      switch self {
      case .bookmark(let id): id.documentID
      case .note(let title): try ListNote.id(title, in: list.text)
      }
    }
  }

  /// The revision of the list's document on which a draft is based.
  package enum Base: Sendable {
    /// The base of the draft that this one replaces; for a first draft, the document's present revision.
    case present
    /// The revision that the author saw, of the list's document or of the draft; nil when the author saw none.
    case seen(RevisionID?)
  }

  package let list: AccountID
  package let subject: Subject
  let document: DocumentID
  /// The revision that the author saw; nil when there was none.
  package let base: RevisionID?
  /// The document's new content as JSON; nil to remove the document.
  package let content: [UInt8]?
  /// The draft's own revision; nil before it is saved.
  package private(set) var revision: RevisionID?
  /// When the draft was created and last changed, by the server's clock.
  package private(set) var createdAt = Timestamp(milliseconds: 0)
  package private(set) var updatedAt = Timestamp(milliseconds: 0)

  init(of subject: Subject, on list: AccountID, base: RevisionID?, content: [UInt8]?) throws {
    (self.list, self.subject, self.base, self.content) = (list, subject, base, content)
    document = try subject.document(in: list)
  }

  /// Reads a draft; nil for a tombstone, and for a document of an app that is not a valid draft.
  init?(_ stored: Document, of list: AccountID) {
    guard !stored.isDeleted,
      let root = try? ParsedJSON(stored.body, limits: .stored).root,
      root["type"]?.stringEquals(Self.type) == true,
      let text = root["document"]?.string, let document = try? DocumentID(text),
      stored.id == (try? Self.id(of: document, on: list))
    else { return nil }
    let title = ListNote.title(of: document, in: list.text)
    guard let subject = title.map(Subject.note) ?? HotelID(text).map(Subject.bookmark) else {
      return nil
    }
    (self.list, self.subject, self.document) = (list, subject, document)
    base = root["base"]?.string.flatMap { try? RevisionID($0) }
    let content = root["deleted"]?.bool == true ? nil : root["content"]
    guard content?.kind ?? .object == .object, content != nil || root["deleted"]?.bool == true
    else { return nil }
    // A note's draft without text must not be read as the note's removal.
    if case .note = subject, let content, content["markdown"]?.string == nil { return nil }
    self.content = content?.value.bytes
    revision = stored.revision
    (createdAt, updatedAt) = (stored.created, stored.updated)
  }

  /// Writes the draft's document.
  /// - Parameter former: the document that it replaces, live or not.
  mutating func write(over former: Document?, in changes: inout StoreChanges) throws {
    let live = former.flatMap { $0.isDeleted ? nil : $0 }
    let id = try Self.id(of: document, on: list)
    revision = try changes.put(id, base: live?.revision, body: body())
    (createdAt, updatedAt) = (live?.created ?? changes.time, changes.time)
  }

  package static func isDraft(_ id: DocumentID) -> Bool {
    id.text.utf8.starts(with: HotelID.draftPrefix.utf8)
  }

  static func id(of document: DocumentID, on list: AccountID) throws -> DocumentID {
    try DocumentID(HotelID.draftPrefix + list.text + ":" + document.text)
  }

  static func range(on list: AccountID) -> DocumentRange {
    let prefix = HotelID.draftPrefix + list.text
    return DocumentRange(start: prefix + ":", end: prefix + ";", includesEnd: false)
  }

  func body() throws -> DocumentBody {
    var members: JSONObject = [
      "type": .string(Self.type), "list": .string(list.text), "document": .string(document.text),
    ]
    if let base { members["base"] = .string(base.description) }
    if let content {
      members["content"] = try JSONValue(parsing: content, limits: .stored)
    } else {
      members["deleted"] = true
    }
    return try DocumentBody(.object(members))
  }

  /// The bookmark as the draft's author sees it; nil when the draft removes it, or is about a note.
  /// - Parameter published: the list's bookmark, if there is one.
  package func bookmark(over published: Bookmark?) -> Bookmark? {
    guard case .bookmark(let id) = subject, let content, let revision else { return nil }
    var bookmark = Bookmark(
      id: id, revision: revision, bookmarkedAt: published?.bookmarkedAt ?? createdAt,
      hotel: content, hasID: false, isDraft: true)
    bookmark.publishedPhotos = published?.photos ?? []
    return bookmark
  }

  /// The note as the draft's author sees it; nil when the draft removes it, or is about a bookmark.
  /// - Parameter published: the list's note, if there is one.
  package func note(over published: ListNote?) -> ListNote? {
    guard case .note(let title) = subject, let markdown, let revision else { return nil }
    return ListNote(
      title, markdown: markdown, revision: revision,
      createdAt: published?.createdAt ?? createdAt, updatedAt: updatedAt, isDraft: true)
  }

  /// A note's text; nil when the draft removes the note.
  package var markdown: String? {
    content.flatMap { try? ParsedJSON($0, limits: .stored).root["markdown"]?.string }
  }
}

/// Reads an author's drafts on a list, in slices.
struct ListDraftsReader: Sendable {
  private let list: AccountID
  private var range: DocumentRange?
  /// The drafts so far, in the order of their documents' ids.
  private(set) var drafts: [ListDraft] = []
  private var bytes = 0

  init(on list: AccountID) {
    self.list = list
    range = ListDraft.range(on: list)
  }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: whether all drafts are read.
  mutating func read(_ view: any StoreView) throws -> Bool {
    range = try view.walk(range) { document in
      if let draft = ListDraft(document, of: list) {
        drafts.append(draft)
        bytes += document.body.count
      }
      return drafts.count < ListLimits.drafts && bytes < ListLimits.draftBytes
    }
    return range == nil
  }
}
