import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// The histories of documents, and restoring earlier revisions. Those of a list's documents are answered here too.
struct HistoryController: Sendable {
  let stores: DatabaseManager
  let accounts: AccountService
  let hotels: HotelService

  var routes: [Route] {
    [
      Route(.get, "/v1/documents/{documentID}/revisions", access: .person) { call, person in
        try await list(call, in: person.store) { _ in
          try await accounts.name(of: person).map { [person.id: $0] } ?? [:]
        }
      },
      Route(.get, "/v1/documents/{documentID}/revisions/{rev}", access: .person) { call, person in
        try await read(call, in: person.store)
      },
      Route(.post, "/v1/documents/{documentID}/restore", access: .person, answer: .kept) {
        call, person in
        try await restore(call, in: WrittenStore(of: person))
      },
    ]
  }

  /// A page of a document's history.
  /// - Parameter findNames: finds the names of users, as far as the caller may know them.
  func list(
    _ call: Call, in store: StoreName,
    findNames: (Set<AccountID>) async throws -> [AccountID: PersonName]
  ) async throws -> Response {
    let id = try DocumentID(call.parameter("documentID"))
    let query = try call.query("limit", "after")
    let limit = try query.int("limit", in: 1...HistoryPage.maximumRevisions, default: 50)
    let after = try query["after"].map { try RevisionID($0) }
    let page = try await stores.withStore(store, creating: false) { store in
      try await store?.history(of: id, limit: limit, after: after)
    }
    guard let page = page ?? nil else { throw Problem.notFound }
    let names = try await findNames(
      Set(page.revisions.compactMap { $0.kept?.arrival?.author.user }))
    return .json { writer in
      writer.member("id", id.text)
      writer.objects("revisions", of: page.revisions) { $0.write(to: &$1, names) }
      if let next = page.next { writer.member("next", next.description) }
    }
  }

  /// Answers the content of a revision.
  func read(_ call: Call, in store: StoreName) async throws -> Response {
    let id = try DocumentID(call.parameter("documentID"))
    let revision = try RevisionID(call.parameter("rev"))
    let document = try await stores.withStore(store, creating: false) { store in
      try await store?.revision(revision, of: id)
    }
    guard let document = document ?? nil else { throw Problem.notFound }
    let tag = EntityTags.tag(revision.description, of: store)
    if let answer = try call.notModified(tag, .tagged(tag)) { return answer }
    var bytes: [UInt8] = []
    document.append(to: &bytes)
    return .json(bytes, headers: .tagged(tag))
  }

  /// Restores a revision.
  func restore(_ call: Call, in store: WrittenStore) async throws -> Response {
    let id = try DocumentID(call.parameter("documentID"))
    let condition = try RevisionCondition(call)
    let request = try RestoreRequest(parsing: try await call.json(.small))
    try await store.requireStillAllowed()
    let answer = { @Sendable (outcome: RestoreOutcome) -> WriteAnswer in
      let tag = EntityTags.tag(outcome.revision.description, of: store.name)
      return WriteAnswer.json(.ok, headers: .tagged(tag)) { writer in
        writer.member("id", id.text)
        writer.member("rev", outcome.revision.description)
        writer.member("deleted", outcome.isDeleted)
        guard !outcome.missing.isEmpty else { return }
        writer.array("missing", of: outcome.missing) { $1.string($0.text) }
      }
    }
    return try await .written(as: answer) { answer in
      try await hotels.restore(
        request, of: id, in: store.name, condition: condition, as: call.writeContext,
        answer: answer)
    }
  }
}

extension RestoreRequest {
  /// Reads `{"rev","base"}`; `base` may be absent.
  /// - Throws: ``Problem`` 400 for any other shape; ``DocumentError`` for an invalid revision.
  fileprivate init(parsing body: JSONNode) throws {
    guard body.kind == .object,
      body.members.allSatisfy({ $0.nameEquals("rev") || $0.nameEquals("base") }),
      let revision = body["rev"]?.string
    else { throw Self.malformed }
    if let base = body["base"], base.string == nil { throw Self.malformed }
    self.init(
      revision: try RevisionID(revision), base: try body["base"]?.string.map { try RevisionID($0) })
  }

  private static let malformed = Problem.badRequest(
    "The body must be an object with the revision as rev and, if you like, the present one as base")
}

extension PastRevision {
  /// Writes the revision's members. It names the author if `names` has a name for them.
  fileprivate func write(to writer: inout JSONWriter, _ names: [AccountID: PersonName]) {
    writer.member("rev", revision.description)
    if let parent { writer.member("parent", parent.description) }
    if let arrival = kept?.arrival {
      writer.member("time", arrival.time.rfc3339)
      writer.object("by") { arrival.author.write(to: &$0, names) }
    }
    writer.member("current", isCurrent)
    writer.member("deleted", isDeleted)
    writer.member("conflicting", isConflicting)
    writer.member("kept", kept != nil)
  }
}

extension Author {
  /// The id of the user; nil for any other author.
  var user: AccountID? {
    if case .user(let id) = self { id } else { nil }
  }

  /// Writes the author's members. It names a user if `names` has a name for them.
  func write(to writer: inout JSONWriter, _ names: [AccountID: PersonName]) {
    switch self {
    case .guest: writer.member("kind", "guest")
    case .user: writer.member("kind", "user")
    case .administrator: writer.member("kind", "administrator")
    case .server: writer.member("kind", "server")
    }
    if let name = user.flatMap({ names[$0] }) { writer.person(name, as: "name") }
  }
}
