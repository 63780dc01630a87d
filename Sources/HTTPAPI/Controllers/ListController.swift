import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import Stores

/// Shared lists: creating, reading, changing and deleting them, and their members.
///
/// For anyone who is not a member, a list appears absent. A guest is a member of none.
struct ListController: Sendable {
  let lists: ListService
  let address: ServerAddress
  let now: @Sendable () -> Timestamp

  var routes: [Route] { own + members }

  private var own: [Route] {
    [
      Route(.get, "/v1/lists", access: .person, run: list),
      .completed(.post, "/v1/lists", run: make),
      Route(.get, "/v1/lists/{listID}", access: .person, run: read),
      .completed(.patch, "/v1/lists/{listID}", run: change),
      .completed(.delete, "/v1/lists/{listID}") { call, person in
        let id = try await call.listID(for: person, in: lists)
        let condition = try Self.listCondition(call)
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.end(
            id, by: person.id, condition: condition, as: call.writeContext, answer: answer)
        }
      },
    ]
  }

  private var members: [Route] {
    [
      .completed(.put, "/v1/lists/{listID}/members/{username}") { call, person in
        let id = try await call.listID(for: person, in: lists)
        let role = try ListBody(try await call.json(.small), known: ["role"]).role()
        return try await .written(as: WriteAnswer.member) { answer in
          try await lists.putMember(
            try call.parameter("username"), role: role, on: id, by: person.id,
            as: call.writeContext, answer: answer)
        }
      },
      .completed(.delete, "/v1/lists/{listID}/members/{username}") { call, person in
        let id = try await call.listID(for: person, in: lists)
        return try await .written(as: WriteAnswer.noContent) { answer in
          try await lists.removeMember(
            try call.parameter("username"), from: id, by: person.id, as: call.writeContext,
            answer: answer)
        }
      },
    ]
  }

  private func list(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...ListLimits.page, default: 20)
    let after = try query.value("after", or: .invalidNext) { AccountID($0) }
    guard person.kind == .user else { return .json { $0.array("lists", of: [Int]()) { _, _ in } } }
    let page = try await lists.lists(of: person.id, after: after, limit: limit)
    let url = address.url(for: call)
    return .json { writer in
      writer.objects("lists", of: page.lists) { list, writer in writer.list(list, at: url) }
      if !page.damaged.isEmpty {
        writer.array("damaged", of: page.damaged) { list, writer in writer.string(list.text) }
      }
      if let next = page.next { writer.member("next", next.text) }
    }
  }

  private func make(_ call: Call, _ person: Principal) async throws -> Response {
    guard let owner = ListMember(person, as: .owner, at: now()) else {
      throw ServiceError.accountNeeded
    }
    let body = try ListBody(
      try await call.json(.document), known: ["title", "markdown", "from", "to"])
    guard let title = try body.text("title") else {
      throw Problem.badRequest("The body needs title, a string")
    }
    let markdown = try body.text("markdown") ?? ""
    let url = address.url(for: call)
    return try await .written(as: { .list($0, at: url, isNew: true) }) { answer in
      try await lists.make(
        title: title, markdown: markdown, dates: body.dates, owner: owner, as: call.writeContext,
        answer: answer)
    }
  }

  private func read(_ call: Call, _ person: Principal) async throws -> Response {
    let list = try await lists.list(try await call.listID(for: person, in: lists), for: person.id)
    if let answer = try call.notModified(list.tag, .tagged(list.tag)) { return answer }
    return WriteAnswer.list(list, at: address.url(for: call)).response
  }

  private func change(_ call: Call, _ person: Principal) async throws -> Response {
    let id = try await call.listID(for: person, in: lists)
    let body = try ListBody(
      try await call.json(.document),
      known: ["title", "markdown", "markdownSeen", "from", "to", "owner"])
    let (title, markdown) = (try body.text("title"), try body.text("markdown"))
    let seen = try body.text("markdownSeen")
    let (dates, owner) = (body.dates, try body.text("owner"))
    let changesDocument = title != nil || markdown != nil || !dates.isEmpty
    guard changesDocument || owner != nil else {
      throw Problem.badRequest("The body needs title, markdown, from, to or owner")
    }
    var condition = try Self.listCondition(call)
    let url = address.url(for: call)
    let change = { @Sendable [condition] (answer: Answering<SharedList>?) in
      try await lists.change(
        id, by: person.id, title: title, markdown: markdown, seen: seen, dates: dates,
        condition: condition ?? { _ in }, as: call.writeContext, answer: answer)
    }
    guard let owner else {
      return try await .written(as: { .list($0, at: url) }) { try await change($0) }
    }
    if changesDocument {
      // A refusal must have written nothing.
      try await lists.requireOfferable(id, to: owner, by: person.id)
      // The request is done only when the list is offered as well.
      let version = try await change(nil).members.head.version
      // This request has changed the document, so it compares only the version that it has written.
      if call[.ifMatch] != nil {
        condition = { tag in guard tag.version == version else { throw Self.changedList } }
      }
    }
    let list = try await lists.list(id, for: person.id)
    let offer = try await lists.offer(
      id, to: owner, by: person.id, condition: condition, as: call.writeContext
    ) { offer in offer.map { WriteAnswer.offer($0, of: list, at: url).kept } }
    if let offer { return WriteAnswer.offer(offer, of: list, at: url).response }
    return WriteAnswer.list(list, at: url).response
  }

  /// The condition of `If-Match` on the list's state; it throws 412 for another state. Nil without the header.
  private static func listCondition(_ call: Call) throws -> ListService.Condition? {
    guard let wanted = try EntityTags(call, .ifMatch, strong: true) else { return nil }
    return { tag in guard wanted.matches(tag.text) else { throw changedList } }
  }

  private static let changedList = ServiceError(
    .precondition, "The list has changed, and If-Match demands another state")
}

extension Call {
  /// The id of the list in a path.
  /// - Throws: 404 for an invalid id, for an absent list and for one without the caller as a member: all the same.
  func listID(for person: Principal, in lists: ListService) async throws -> AccountID {
    guard person.kind == .user, let id = AccountID(try parameter("listID")),
      try await lists.role(of: person.id, in: id) != nil
    else { throw Problem.notFound }
    return id
  }
}

extension WriteAnswer {
  /// The answer to a user who was put on a list, or to whom it is offered.
  @Sendable static func member(_ invitation: PersonalInvitation?) -> WriteAnswer {
    guard let invitation else { return WriteAnswer(.noContent) }
    return .json(.accepted, headers: [.cacheControl: Response.uncached]) { writer in
      writer.invited(invitation)
    }
  }

  /// The answer with a list.
  /// - Parameter url: the server's own.
  static func list(
    _ list: SharedList, at url: String, isNew: Bool = false, tagged isTagged: Bool = true
  ) -> WriteAnswer {
    var fields: HTTPFields = isTagged ? .tagged(list.tag) : [:]
    if isNew { fields[.location] = "/v1/lists/" + list.id.text }
    return .json(isNew ? .created : .ok, headers: fields) { $0.list(list, at: url) }
  }

  /// The answer to an offer of a list: the invitation, and what the list still says. Clients of a generator read every
  /// answer of an operation as one type, here a list; `id` is the invitation's.
  /// - Parameter url: the server's own.
  static func offer(
    _ invitation: PersonalInvitation, of list: SharedList, at url: String
  ) -> WriteAnswer {
    .json(.accepted, headers: [.cacheControl: Response.uncached]) { writer in
      writer.invited(invitation)
      writer.state(of: list, at: url)
    }
  }
}

extension JSONWriter {
  /// Writes the members of an invitation by name.
  mutating func invited(_ invitation: PersonalInvitation) {
    member("id", invitation.id.text)
    member("status", "invited")
    member("username", invitation.username)
    member("role", invitation.role.rawValue)
    member("createdAt", invitation.createdAt.rfc3339)
    member("expiresAt", invitation.expiresAt.rfc3339)
  }

  /// Writes the members of a list's object.
  /// - Parameter url: the server's own.
  fileprivate mutating func list(_ list: SharedList, at url: String) {
    member("id", list.id.text)
    member("role", list.role.rawValue)
    member("createdAt", list.members.head.createdAt.rfc3339)
    state(of: list, at: url)
  }

  /// Writes the days of a trip, as far as there are any.
  mutating func days(_ dates: TripDates) {
    if let from = dates.from { member("from", from) }
    if let to = dates.to { member("to", to) }
  }

  /// Writes what a list says of itself, without `id`, `role` and `createdAt`.
  /// - Parameter url: the server's own.
  fileprivate mutating func state(of list: SharedList, at url: String) {
    member("title", list.title)
    member("markdown", list.markdown)
    days(list.dates)
    member("owner", list.members.owner?.username ?? "")
    objects("members", of: list.members.all) { member, writer in
      writer.person(member.name)
      writer.member("role", member.role.rawValue)
      writer.member("joinedAt", member.joinedAt.rfc3339)
    }
    member("updatedAt", list.updatedAt.rfc3339)
    member("couch", url + "/couch/list-" + list.id.text)
  }
}

extension ListMember {
  /// A user as a member; nil for a guest, who can't be a member.
  init?(_ person: Principal, as role: ListRole, at now: Timestamp) {
    guard person.kind == .user, let username = person.username else { return nil }
    self.init(account: person.id, name: PersonName(username), role: role, joinedAt: now)
  }
}
