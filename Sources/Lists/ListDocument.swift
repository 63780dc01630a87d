package import Documents
package import Stores

/// The document of a list, in the list's own store under the list's id. It has the form of TouchWiki's `wiki`:
/// `{"type":"wiki","title","owner_id","members","readers","markdown","from"?,"to"?,"created_at","updated_at"}`.
///
/// Members of the list write title, markdown and the days of the trip, here or by sync. The owner and the members come from
/// ``ListDirectory`` as user names: `members` has all but the owner, `readers` those who may only read. Members of
/// the object that this service does not know are kept. The times in the document are the writer's; ``SharedList``
/// has the server's.
///
/// Source: couchbaselabs/TouchWiki, `Wiki.m` and `WikiPage.m`.
package struct ListDocument: Sendable {
  package static let type = "wiki"

  /// The winner's revision.
  private(set) var revision: RevisionID
  /// When the document was last written, by the server's clock.
  private(set) var updated: Timestamp
  private(set) var members: JSONObject

  /// The document of a list; nil when it is missing or a tombstone.
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

  /// The document's id, which is the list's id.
  package static func id(of list: AccountID) -> DocumentID { DocumentID(stored: list.text) }

  /// The title; empty when it is not a string.
  var title: String { members["title"]?.string ?? "" }
  /// The description, in markdown; empty when it is not a string.
  var markdown: String { members["markdown"]?.string ?? "" }

  /// The days of the trip; none when they are not valid.
  var dates: TripDates { (try? TripDates(of: members)) ?? TripDates() }

  static func body(
    title: String, markdown: String, dates: TripChange = TripChange(), owner: String,
    at now: Timestamp
  ) throws -> DocumentBody {
    var members: JSONObject = [
      "type": .string(type), "title": .string(title), "owner_id": .string(owner), "members": [],
      "readers": [], "markdown": .string(markdown), "created_at": .string(now.rfc3339),
      "updated_at": .string(now.rfc3339),
    ]
    try dates.apply(to: &members)
    return try DocumentBody(.object(members))
  }

  /// Writes another title, description or days, unless nothing changes.
  mutating func change(
    title: String?, markdown: String?, dates: TripChange, in changes: inout StoreChanges,
    as id: DocumentID
  ) throws {
    var next = members
    if let title { next["title"] = .string(title) }
    if let markdown { next["markdown"] = .string(markdown) }
    try dates.apply(to: &next)
    guard next != members else { return }
    next["updated_at"] = .string(changes.time.rfc3339)
    revision = try changes.put(id, base: revision, body: DocumentBody(.object(next)))
    (members, updated) = (next, changes.time)
  }

  /// Whether a revision of a list's document names anyone who is not one of these members.
  static func names(othersThan shown: ListMembers, in body: JSONObject) -> Bool {
    let known = Set(shown.all.map { Array($0.username.utf8) })
    let lists = [body["members"], body["readers"]].flatMap { $0?.array ?? [] }
    let named = lists.compactMap(\.string) + [body["owner_id"]?.string ?? ""]
    return named.contains { !$0.isEmpty && !known.contains(Array($0.utf8)) }
  }

  /// The document with these members; nil when nothing changes.
  func showing(_ shown: ListMembers) throws -> DocumentBody? {
    let next = Self.showing(shown, in: members)
    return next == members ? nil : try DocumentBody(.object(next))
  }

  /// The contents of a revision of a list's document, with these members.
  static func showing(_ shown: ListMembers, in members: JSONObject) -> JSONObject {
    var next = members
    next["owner_id"] = .string(shown.owner?.username ?? "")
    next["members"] = .array(shown.others.map { .string($0.username) })
    next["readers"] = .array(
      shown.others.filter { $0.role == .reader }.map { .string($0.username) })
    return next
  }

  /// The members of the document that can't be changed by sync; see ``ListWriteRule``.
  static let owned = ["type", "owner_id", "members", "readers"]
}

extension StoreChanges {
  /// Writes a list's present members to its document, and removes the names of all others, from conflicting branches
  /// too. A deleted or unreadable branch that may have a name ends in a tombstone without one. Only the bodies of leaves
  /// are kept. The winner stays the winner.
  /// - Returns: whether names were removed.
  mutating func show(_ members: ListMembers, on list: AccountID) throws -> Bool {
    let id = ListDocument.id(of: list)
    guard let tree = try view.newest(id), let document = try ListDocument(list, in: view) else {
      return false
    }
    var edits = DocumentEdits(id, in: tree, limit: historyLimits)
    var isNamed = ListDocument.names(othersThan: members, in: document.members)
    var highest: RevisionID?
    for leaf in tree.leaves where leaf.revision != document.revision {
      guard let bytes = try view.body(id, leaf.revision) else { continue }
      let body = try? JSONValue(parsing: bytes, limits: .stored).object
      guard body.map({ ListDocument.names(othersThan: members, in: $0) }) ?? true,
        !(leaf.isDeleted && bytes == DocumentBody.empty.bytes)
      else { continue }
      isNamed = true
      guard !leaf.isDeleted, let body,
        let freed = try? DocumentBody(.object(ListDocument.showing(members, in: body)))
      else {
        _ = try edits.put(base: leaf.revision, body: .empty, isDeleted: true)
        continue
      }
      let branch = try edits.put(base: leaf.revision, body: freed, isDeleted: false)
      highest = max(highest ?? branch, branch)
    }
    var present = document.revision
    let shown = try document.showing(members)
    if let shown { present = try edits.put(base: present, body: shown, isDeleted: false) }
    // The branches have grown by a generation, and none of them may win by that.
    while let highest, present < highest {
      let body = try shown ?? DocumentBody(.object(document.members))
      present = try edits.put(base: present, body: body, isDeleted: false)
    }
    write(edits.finish())
    // Earlier revisions must not contain the names of former members either.
    if isNamed { dropHistory(of: id) }
    return isNamed
  }
}

/// A list as its members see it.
package struct SharedList: Sendable {
  /// The list's id; its store is ``StoreName/list(_:)`` of it.
  package let id: AccountID
  package let title: String
  /// The description, in markdown.
  package let markdown: String
  package let dates: TripDates
  package private(set) var members: ListMembers
  /// The role of the account that reads the list.
  package private(set) var role: ListRole
  /// When title, description, days or members last changed, by the server's clock.
  package let updatedAt: Timestamp
  /// An entity-tag without quotes that changes with all of the above. For `If-Match`, the role and
  /// display names do not matter.
  package let tag: String

  /// What the list counts on a page of lists.
  var pageBytes: Int {
    title.utf8.count + markdown.utf8.count + members.all.count * ListLimits.memberPageBytes
  }

  init(_ id: AccountID, _ document: ListDocument, _ members: ListMembers, role: ListRole) {
    self.id = id
    title = document.title
    (markdown, dates) = (document.markdown, document.dates)
    self.members = members
    self.role = role
    updatedAt = document.updated
    let state = ListTag(revision: document.revision, version: members.head.version)
    tag = state.text + "+" + role.rawValue + members.displayNamesTag
  }

  /// The list as a member reads it who was added, or got another role.
  func with(_ member: ListMember) -> SharedList {
    var list = self
    list.members = members.with(member)
    list.role = member.role
    return list
  }
}

/// The state of a list, for `If-Match`.
package struct ListTag: Sendable, Equatable {
  /// The revision of the list's own document.
  package let revision: RevisionID
  /// How often the members have changed.
  package let version: Int

  /// The entity-tag without quotes.
  package var text: String { "\(revision)-\(version)" }
}

extension ListService {
  /// A list's next description: a new text, merged by lines with what others have written since its author saw `seen`.
  /// Where both changed the same lines, all of both texts stays, one below the other, unless the text is at the end already,
  /// as after the same request. Members put it in order themselves.
  /// - Returns: the next description, and the present one with which it was merged; nil for one that was not read.
  /// - Throws: `absent`, `documentTooLarge`.
  func description(
    _ markdown: String?, since seen: String?, of list: AccountID
  ) async throws -> (joined: String?, theirs: String?) {
    guard let markdown, let seen else { return (markdown, nil) }
    let theirs = try await document(of: list).markdown
    let merged = try await LineMerge.merged(
      base: try ListText.markdown(seen), theirs: theirs, mine: markdown)
    let both =
      ("\n" + theirs).utf8.reversed().starts(with: ("\n" + markdown).utf8.reversed())
      ? theirs : [theirs, markdown].filter { !$0.isEmpty }.joined(separator: "\n")
    return (try ListText.markdown(merged ?? both), theirs)
  }
}
