package import Documents
package import Hotels
import JSON
import Lanes
package import Stores

/// A change of a list's document that only its author sees until it is published.
///
/// It is a document of the author's own store with the id `draft:{list}:{document}`, so that it syncs with that store and
/// with nothing else: `{"type":"draft","list","document","base"?,"deleted"?,"content"?}`. `base` is the revision of the
/// list's document that the author saw, absent where there was none; `content` is what the document is to say.
package struct ListDraft: Sendable {
  /// The `type`.
  static let type = "draft"

  /// Which kind of document it is about.
  package enum Subject: Sendable, Equatable {
    /// A bookmark, by its hotel.
    case bookmark(HotelID)
    /// A note, by its title.
    case note(String)

    /// The document of the list's store.
    func document(in list: AccountID) throws -> DocumentID {
      switch self {
      case .bookmark(let id): id.documentID
      case .note(let title): try ListNote.id(title, in: list.text)
      }
    }
  }

  /// Which revision of the list's document a draft goes on from.
  package enum Base: Sendable {
    /// That of the draft which it takes the place of; the document's present one for a first draft.
    case present
    /// The one that the author saw; nil where they saw none.
    case seen(RevisionID?)
  }

  /// The list.
  package let list: AccountID
  /// What it is about.
  package let subject: Subject
  /// The list's document.
  let document: DocumentID
  /// The revision that the author saw; nil where there was none.
  package let base: RevisionID?
  /// What the document is to say, its bytes; nil to remove it.
  package let content: [UInt8]?
  /// The draft's own revision; nil before it is saved.
  package private(set) var revision: RevisionID?
  /// When the draft was made, and when it was last changed, by the server's clock.
  package private(set) var createdAt = Timestamp(milliseconds: 0)
  package private(set) var updatedAt = Timestamp(milliseconds: 0)

  /// A draft that is not saved yet.
  init(
    of subject: Subject, on list: AccountID, base: RevisionID?, content: [UInt8]?
  ) throws {
    (self.list, self.subject, self.base, self.content) = (list, subject, base, content)
    document = try subject.document(in: list)
  }

  /// Reads a draft; nil for a tombstone, and for what an app has written that is none.
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
    // A note's draft without a text must not be taken for its removal.
    if case .note = subject, let content, content["markdown"]?.string == nil { return nil }
    self.content = content?.value.bytes
    revision = stored.revision
    (createdAt, updatedAt) = (stored.created, stored.updated)
  }

  /// The draft's document.
  static func id(of document: DocumentID, on list: AccountID) throws -> DocumentID {
    try DocumentID(ListWriteRule.draftPrefix + list.text + ":" + document.text)
  }

  /// All drafts on a list.
  static func range(on list: AccountID) -> DocumentRange {
    let prefix = ListWriteRule.draftPrefix + list.text
    return DocumentRange(start: prefix + ":", end: prefix + ";", includesEnd: false)
  }

  /// What is stored.
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

  /// The bookmark as its author sees it; nil where the draft removes it, or is about a note.
  /// - Parameter published: the list's bookmark, where there is one.
  package func bookmark(over published: Bookmark?) -> Bookmark? {
    guard case .bookmark(let id) = subject, let content, let revision else { return nil }
    return Bookmark(
      id: id, revision: revision, bookmarkedAt: published?.bookmarkedAt ?? createdAt,
      hotel: content, hasID: false, isDraft: true)
  }

  /// The note as its author sees it; nil where the draft removes it, or is about a bookmark.
  /// - Parameter published: the list's note, where there is one.
  package func note(over published: ListNote?) -> ListNote? {
    guard case .note(let title) = subject, let markdown, let revision else { return nil }
    return ListNote(
      draft: title, markdown: markdown, revision: revision,
      createdAt: published?.createdAt ?? createdAt, updatedAt: updatedAt)
  }

  /// A note's text; nil where the draft removes it.
  package var markdown: String? {
    content.flatMap { try? ParsedJSON($0, limits: .stored).root["markdown"]?.string }
  }
}

/// Reads one's drafts on a list, in slices.
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

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether all are read.
  mutating func read(_ view: any StoreView) throws -> Bool {
    guard let walked = range else { return true }
    var rest: DocumentRange?
    try view.documents(walked) { document in
      if let draft = ListDraft(document, of: list) {
        drafts.append(draft)
        bytes += document.body.count
      }
      guard drafts.count < ListLimits.drafts, bytes < ListLimits.draftBytes else { return false }
      guard Slice.isOver else { return true }
      rest = walked.behind(document.id.text)
      return false
    }
    range = rest
    return rest == nil
  }
}
