package import Documents
import JSON
package import Stores

/// The document of a list that its store has under the list's own id, as TouchWiki's `wiki`: `{"type":"wiki",
/// "title","owner_id","members","readers","markdown","created_at","updated_at"}`.
///
/// Title and markdown are what members write, here or by sync. Owner and members follow ``ListDirectory``: they are
/// names, of `members` all but the owner's, of `readers` those that may only read. Members that this service does not
/// know stay as they are. Times in it are what the writer says; ``SharedList`` has the server's.
///
/// Source: couchbaselabs/TouchWiki, `Wiki.m` and `WikiPage.m`.
package struct ListDocument: Sendable {
  /// The `type`.
  package static let type = "wiki"

  /// The winner's revision.
  let revision: RevisionID
  /// When the list was made, and when the document was last written, by the server's clock.
  let updated: Timestamp
  /// All that it says.
  private(set) var members: JSONObject

  /// The document of a list; nil where it is missing or a tombstone.
  init?(_ list: AccountID, in view: any StoreView) throws {
    guard let document = try view.document(Self.id(of: list)), !document.isDeleted else {
      return nil
    }
    guard let object = try? JSONValue(parsing: document.body, limits: .stored).object else {
      throw ServiceError(.integrity, "The list can't be read")
    }
    revision = document.revision
    updated = document.updated
    members = object
  }

  /// The document's id: the list's.
  package static func id(of list: AccountID) -> DocumentID { DocumentID(stored: list.text) }

  /// The title; empty where it is no text.
  var title: String { members["title"]?.string ?? "" }
  /// The description, in markdown; empty where it is no text.
  var markdown: String { members["markdown"]?.string ?? "" }

  /// A new list's document.
  static func body(
    title: String, markdown: String, owner: String, at now: Timestamp
  ) throws -> DocumentBody {
    try DocumentBody(
      .object([
        "type": .string(type), "title": .string(title), "owner_id": .string(owner), "members": [],
        "readers": [], "markdown": .string(markdown), "created_at": .string(now.rfc3339),
        "updated_at": .string(now.rfc3339),
      ]))
  }

  /// The document with another title or description; nil where it says that already.
  func changed(
    title: String?, markdown: String?, at now: Timestamp
  ) throws -> DocumentBody? {
    var next = members
    if let title { next["title"] = .string(title) }
    if let markdown { next["markdown"] = .string(markdown) }
    guard next != members else { return nil }
    next["updated_at"] = .string(now.rfc3339)
    return try DocumentBody(.object(next))
  }

  /// Whether it names somebody who is not among these members.
  func names(othersThan shown: ListMembers) -> Bool {
    let known = shown.all.map(\.username)
    let named = (members["members"]?.array ?? []).compactMap(\.string)
    return (named + [members["owner_id"]?.string ?? ""]).contains { !known.contains($0) }
  }

  /// The document with these members; nil where it says so already.
  func showing(_ shown: ListMembers) throws -> DocumentBody? {
    var next = members
    next["owner_id"] = .string(shown.owner?.username ?? "")
    next["members"] = .array(shown.others.map { .string($0.username) })
    next["readers"] = .array(
      shown.others.filter { $0.role == .reader }.map { .string($0.username) })
    guard next != members else { return nil }
    return try DocumentBody(.object(next))
  }

  /// The members of the document that the owner alone decides about.
  static let owned = ["type", "owner_id", "members", "readers"]
}

/// A list as its members see it.
package struct SharedList: Sendable {
  /// The list's id; its store is ``StoreName/list(_:)`` of it.
  package let id: AccountID
  /// The title.
  package let title: String
  /// The description, in markdown.
  package let markdown: String
  /// Who is on it.
  package let members: ListMembers
  /// What the one who asks is to it.
  package let role: ListRole
  /// When title, description or members last changed, by the server's clock.
  package let updatedAt: Timestamp
  /// An entity-tag without quotes that changes with all of the above.
  package let tag: String

  init(_ id: AccountID, _ document: ListDocument, _ members: ListMembers, role: ListRole) {
    self.id = id
    title = document.title
    markdown = document.markdown
    self.members = members
    self.role = role
    updatedAt = document.updated
    tag = ListTag(revision: document.revision, version: members.head.version).text
  }
}

/// One state of a list, as `If-Match` demands it.
package struct ListTag: Sendable, Equatable {
  /// The revision of the list's own document.
  package let revision: RevisionID
  /// How often the members had changed.
  package let version: Int

  /// The entity-tag without quotes.
  package var text: String { "\(revision)-\(version)" }
}

/// What stands for a text that people write: within its bytes, without control characters.
enum ListText {
  /// A title: 1 to ``ListLimits/titleBytes`` bytes that are not all spaces, on one line.
  /// - Throws: `invalidDocument`.
  static func title(_ text: String) throws -> String {
    guard (1...ListLimits.titleBytes).contains(text.utf8.count),
      text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }),
      !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw ServiceError(
        .invalidDocument,
        "A title has 1 to \(ListLimits.titleBytes) bytes on one line, not all of them spaces")
    }
    return text
  }

  /// A text in markdown: at most ``ListLimits/markdownBytes`` bytes.
  /// - Throws: `documentTooLarge`.
  static func markdown(_ text: String) throws -> String {
    guard text.utf8.count <= ListLimits.markdownBytes else {
      throw ServiceError(
        .documentTooLarge, "A text has at most \(ListLimits.markdownBytes) bytes")
    }
    return text
  }
}
