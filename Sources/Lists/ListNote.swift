package import Documents
package import Stores

/// A note of a list: a document of the list's store with the id `{list}:{title}`, in the form of TouchWiki's
/// `page`: `{"type":"page","wiki_id","title","markdown","created_at","updated_at"}`. Members that this service does
/// not know are kept.
package struct ListNote: Sendable, Equatable {
  package static let type = "page"

  /// The title. The document's id consists of the list's id and the title.
  package let title: String
  package let markdown: String
  /// The winner's revision.
  package let revision: RevisionID
  /// When the note was created (or created again after its last deletion) and last written, by the server's clock.
  package let createdAt: Timestamp
  package let updatedAt: Timestamp
  /// Whether it is a draft. Only its author sees a draft.
  package let isDraft: Bool

  init(
    _ title: String, markdown: String, revision: RevisionID, createdAt: Timestamp,
    updatedAt: Timestamp, isDraft: Bool = false
  ) {
    (self.title, self.markdown, self.revision) = (title, markdown, revision)
    (self.createdAt, self.updatedAt, self.isDraft) = (createdAt, updatedAt, isDraft)
  }

  /// Reads a note; nil for a tombstone, and for a document that is not a note of the list.
  init?(_ document: Document, of list: String) throws {
    guard !document.isDeleted, let title = Self.title(of: document.id, in: list) else { return nil }
    guard let root = try? ParsedJSON(document.body, limits: .stored).root else {
      throw ServiceError(.integrity, "The note can't be read")
    }
    guard root["type"]?.stringEquals(Self.type) == true else { return nil }
    self.init(
      title, markdown: root["markdown"]?.string ?? "", revision: document.revision,
      createdAt: document.created, updatedAt: document.updated)
  }

  /// The id of a note's document.
  /// - Throws: `invalidDocument` for an invalid title.
  static func id(_ title: String, in list: String) throws -> DocumentID {
    try DocumentID(list + ":" + ListText.title(title))
  }

  /// The title in a document's id; nil for an id that is not a note's.
  static func title(of id: DocumentID, in list: String) -> String? {
    let (bytes, prefix) = (id.text.utf8, list.utf8.count + 1)
    guard bytes.count > prefix, bytes.starts(with: (list + ":").utf8) else { return nil }
    return String(Substring(bytes.dropFirst(prefix)))
  }

  /// The ids of all notes of a list after a title.
  static func range(in list: String, after title: String?) -> DocumentRange {
    let start = title.map { list + ":" + $0 + "\u{0}" } ?? list + ":"
    return DocumentRange(start: start, end: list + ";", includesEnd: false)
  }

  /// A note's new body. Other members of the former body are kept.
  static func body(
    _ title: String, _ markdown: String, in list: String, over former: JSONObject?,
    at now: Timestamp
  ) throws -> DocumentBody {
    var members = former ?? ["type": .string(type), "wiki_id": .string(list)]
    members["title"] = .string(title)
    members["markdown"] = .string(markdown)
    if members["created_at"] == nil { members["created_at"] = .string(now.rfc3339) }
    members["updated_at"] = .string(now.rfc3339)
    return try DocumentBody(.object(members))
  }
}

/// The notes of a list. The caller has checked that the account may read or write them.
extension ListService {
  /// One note; nil when there is none, and for a title that no note can have.
  /// - Throws: `absent`.
  package func note(_ title: String, of list: AccountID) async throws -> ListNote? {
    guard let id = try? ListNote.id(title, in: list.text) else { return nil }
    return try await stores.withExisting(.list(list)) { store in
      try await store.readInline { view in
        try view.document(id).flatMap { try ListNote($0, of: list.text) }
      }
    }
  }

  /// A list's notes, in the order of their titles' bytes. A page ends early when the texts are long; see
  /// ``ListLimits/pageBytes``.
  /// - Parameter last: the title after which the page starts.
  /// - Parameter author: the member whose drafts replace the published notes.
  /// - Returns: the notes, and the title after which the next page starts; nil at the end.
  package func notes(
    of list: AccountID, after last: String?, limit: Int, for author: AccountID
  ) async throws -> (notes: [ListNote], next: String?) {
    let (published, next) = try await publishedNotes(of: list, after: last, limit: limit)
    var notes = published
    for draft in try await drafts(on: list, of: author) {
      guard case .note(let title) = draft.subject,
        last?.precedesBytes(of: title) ?? true,
        next.map({ title.precedesBytes(of: $0) || title.equalsBytes(of: $0) }) ?? true
      else { continue }
      let index = notes.firstIndex { $0.title.equalsBytes(of: title) }
      let drafted = draft.note(over: index.map { notes[$0] })
      if let index { notes.remove(at: index) }
      if let drafted { notes.append(drafted) }
    }
    notes.sort { $0.title.precedesBytes(of: $1.title) }
    return (notes, next)
  }

  /// The same without drafts.
  func publishedNotes(
    of list: AccountID, after last: String?, limit: Int
  ) async throws -> (notes: [ListNote], next: String?) {
    let reader = ListNotesReader(list.text, after: last, limit: limit)
    return try await stores.withExisting(.list(list)) { store in
      try await store.read(inSlices: reader) { reader, view in
        try reader.read(view) ? (reader.notes, reader.next) : nil
      }
    }
  }
}

/// Reads a page of a list's notes, in slices.
struct ListNotesReader: Sendable {
  private let list: String
  private let limit: Int
  private var range: DocumentRange?
  private(set) var notes: [ListNote] = []
  /// The title after which the next page starts; nil at the end.
  private(set) var next: String?
  private var bytes = 0

  /// A page that begins after a title.
  init(_ list: String, after last: String?, limit: Int) {
    self.list = list
    self.limit = limit
    range = ListNote.range(in: list, after: last)
  }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: whether the page is complete.
  mutating func read(_ view: any StoreView) throws -> Bool {
    range = try view.walk(range) { document in
      guard notes.count < limit, bytes < ListLimits.pageBytes else {
        next = notes.last?.title
        return false
      }
      if let note = try ListNote(document, of: list) {
        notes.append(note)
        bytes += document.body.count
      }
      return true
    }
    return range == nil
  }
}

extension ServiceError {
  static let noNote = ServiceError(.missing, "The list has no note of this title")
}
