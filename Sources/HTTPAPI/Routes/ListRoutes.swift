import Accounts
import Documents
import HTTPTypes
import Hummingbird
import JSON
import Lists
import Stores

/// Shared lists: creating, reading, changing and deleting them.
///
/// For anyone who is not a member, a list appears absent. A guest is a member of none.
extension HTTPService {
  /// All routes below `/v1/lists`, and accepting an invitation.
  var listRoutes: [Route] {
    [
      Route(.get, "/v1/lists", access: .person, run: myLists),
      Route(.post, "/v1/lists", access: .person, answer: .kept, completion: .always, run: makeList),
      Route(.get, "/v1/lists/{listID}", access: .person, run: readList),
      Route(
        .patch, "/v1/lists/{listID}", access: .person, answer: .kept, completion: .always,
        run: changeList),
      Route(.delete, "/v1/lists/{listID}", access: .person, answer: .kept, completion: .always) {
        call, person in
        let id = try await listID(call, person)
        let condition = try Self.listCondition(call)
        return try await .noContent(in: .system) {
          try await lists.end(id, by: person.id, condition: condition)
        }
      },
    ] + memberRoutes + invitationRoutes + listContentRoutes
  }

  /// The id of the list in a path.
  /// - Throws: 404 for an invalid id, for an absent list and for one without the caller as a member: all the same.
  func listID(_ call: Call, _ person: Principal) async throws -> AccountID {
    guard person.kind == .user, let id = AccountID(try call.parameter("listID")),
      try await lists.role(of: person.id, in: id) != nil
    else { throw Problem.notFound }
    return id
  }

  private func myLists(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...ListLimits.page, default: 20)
    var after: AccountID?
    if let text = query["after"] {
      guard let id = AccountID(text) else {
        throw Problem(
          .badRequest, "invalid_parameter", "after must be the next of an earlier answer")
      }
      after = id
    }
    guard person.kind == .user else { return .json { $0.array("lists", of: [Int]()) { _, _ in } } }
    let page = try await lists.lists(of: person.id, after: after, limit: limit)
    let address = address.url(for: call)
    return .json { writer in
      writer.array("lists", of: page.lists) { list, writer in
        writer.beginObject()
        Self.write(list, at: address, to: &writer)
        writer.endObject()
      }
      if let next = page.next { writer.member("next", next.text) }
    }
  }

  private func makeList(_ call: Call, _ person: Principal) async throws -> Response {
    guard let owner = ListMember(person, as: .owner, at: now()) else {
      throw ServiceError.accountNeeded
    }
    let body = try ListBody(try await call.json(.document), known: ["title", "markdown"])
    guard let title = try body.text("title") else {
      throw Problem(.badRequest, "bad_request", "The body needs title, a string")
    }
    let markdown = try body.text("markdown") ?? ""
    let address = address.url(for: call)
    let answer = { @Sendable (list: SharedList) in
      var fields = HTTPFields.tagged(list.tag)
      fields[.location] = "/v1/lists/" + list.id.text
      return WriteAnswer.json(.created, headers: fields) { writer in
        Self.write(list, at: address, to: &writer)
      }
    }
    return try await .written(as: answer) {
      try await lists.make(title: title, markdown: markdown, owner: owner)
    }
  }

  private func readList(_ call: Call, _ person: Principal) async throws -> Response {
    let list = try await lists.list(try await listID(call, person), for: person.id)
    if let known = try EntityTags(call, .ifNoneMatch, strong: false), known.matches(list.tag) {
      return .empty(.notModified, headers: .tagged(list.tag))
    }
    return answer(list, .ok, headers: .tagged(list.tag), call)
  }

  private func changeList(_ call: Call, _ person: Principal) async throws -> Response {
    let id = try await listID(call, person)
    let body = try ListBody(try await call.json(.document), known: ["title", "markdown", "owner"])
    let (title, markdown) = (try body.text("title"), try body.text("markdown"))
    let owner = try body.text("owner")
    guard title != nil || markdown != nil || owner != nil else {
      throw Problem(.badRequest, "bad_request", "The body needs title, markdown or owner")
    }
    var condition = try Self.listCondition(call)
    if title != nil || markdown != nil {
      let change = { [condition] in
        try await lists.change(
          id, by: person.id, title: title, markdown: markdown, condition: condition ?? { _ in })
      }
      // The request is done only when the list is offered as well.
      let version = try await owner == nil ? change() : WriteReceipt.aside(change)
      // This request has changed the document, so it compares only the version that it has written.
      if call[.ifMatch] != nil {
        condition = { tag in guard tag.version == version else { throw Self.changedList } }
      }
    }
    if let owner,
      let offer = try await lists.offer(id, to: owner, by: person.id, condition: condition)
    {
      return Self.answer(to: .invited(offer)).response
    }
    let list = try await lists.list(id, for: person.id)
    return answer(list, .ok, headers: .tagged(list.tag), call)
  }

  /// The condition of `If-Match` on the list's state; it throws 412 for another state. Nil without the header.
  private static func listCondition(_ call: Call) throws -> ListService.Condition? {
    guard let wanted = try EntityTags(call, .ifMatch, strong: true) else { return nil }
    return { tag in guard wanted.matches(tag.text) else { throw changedList } }
  }

  private static let changedList = ServiceError(
    .precondition, "The list has changed, and If-Match demands another state")

  /// The answer with a list.
  func answer(
    _ list: SharedList, _ status: HTTPResponse.Status, headers: HTTPFields, _ call: Call
  ) -> Response {
    .json(status, headers: headers) { writer in
      Self.write(list, at: address.url(for: call), to: &writer)
    }
  }

  /// Writes the members of a list's object.
  /// - Parameter address: the server's own URL.
  private static func write(
    _ list: SharedList, at address: String, to writer: inout JSONWriter
  ) {
    writer.member("id", list.id.text)
    writer.member("title", list.title)
    writer.member("markdown", list.markdown)
    writer.member("owner", list.members.owner?.username ?? "")
    writer.member("role", list.role.rawValue)
    writer.array("members", of: list.members.all) { member, writer in
      writer.beginObject()
      writer.person(member.name)
      writer.member("role", member.role.rawValue)
      writer.member("joinedAt", member.joinedAt.rfc3339)
      writer.endObject()
    }
    writer.member("createdAt", list.members.head.createdAt.rfc3339)
    writer.member("updatedAt", list.updatedAt.rfc3339)
    writer.member("couch", address + "/couch/list-" + list.id.text)
  }
}

extension ListMember {
  /// A user as a member; nil for a guest, who can't be a member.
  init?(_ person: Principal, as role: ListRole, at now: Timestamp) {
    guard person.kind == .user, let username = person.username else { return nil }
    self.init(account: person.id, name: PersonName(username), role: role, joinedAt: now)
  }
}

/// A body that is an object with known members.
struct ListBody: Sendable {
  private let node: JSONNode

  /// Takes a body.
  /// - Throws: ``Problem`` 400 for anything but an object, and for an unknown member.
  init(_ node: JSONNode, known: [String]) throws(Problem) {
    guard node.kind == .object else {
      throw Problem(.badRequest, "bad_request", "The body must be an object")
    }
    for member in node.members where !known.contains(where: { member.nameEquals($0) }) {
      throw Problem(
        .badRequest, "bad_request", "The body may have \(known.joined(separator: ", ")) alone")
    }
    self.node = node
  }

  /// A member that is a string; nil if it is absent.
  /// - Throws: ``Problem`` 400 for any other value.
  func text(_ name: String) throws(Problem) -> String? {
    guard let member = node[name] else { return nil }
    guard let text = member.string else {
      throw Problem(.badRequest, "bad_request", "\(name) must be a string")
    }
    return text
  }

  /// The member `role`, which is `editor` or `reader`.
  /// - Throws: ``Problem`` 400 for anything else.
  func role() throws(Problem) -> ListRole {
    guard let role = try text("role").flatMap(ListRole.init), role != .owner else {
      throw Problem(.badRequest, "bad_request", "role must be editor or reader")
    }
    return role
  }

  /// A member that is a time; nil if it is absent.
  /// - Throws: ``Problem`` 400 for anything else.
  func moment(_ name: String) throws(Problem) -> Timestamp? {
    guard let text = try text(name) else { return nil }
    guard let moment = Timestamp(rfc3339: text) else {
      throw Problem(
        .badRequest, "bad_request", "\(name) must be a time as in 2026-11-21T02:09:00Z")
    }
    return moment
  }
}

extension JSONWriter {
  /// Writes how others see a user: the user name, and the display name if there is one.
  mutating func person(
    _ name: PersonName, as member: String = "username", displayed: String = "displayName"
  ) {
    self.member(member, name.username)
    if let displayName = name.displayName { self.member(displayed, displayName) }
  }

  /// Writes a member that is an array.
  mutating func array<Element>(
    _ name: String, of elements: some Sequence<Element>,
    _ write: (Element, inout JSONWriter) -> Void
  ) {
    self.name(name)
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
  }
}
