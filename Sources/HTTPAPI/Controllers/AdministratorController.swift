import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// What the administrator sees of the server. Of people's stores that is sizes, counts and times, never the id or the
/// content of a document. For everybody else these paths appear absent.
struct AdministratorController: Sendable {
  /// The maximum of rows in a page.
  static let rows = 100
  /// The maximum of bytes of a position in an order of users, which contains a name.
  static let positionBytes = 1_024

  let accounts: AccountService
  let lists: ListService
  let stores: DatabaseManager
  let engine: any StorageEngine

  var routes: [Route] {
    [
      .administrator(.get, "/v1/admin/stores") { call in
        let query = try call.query("limit", "after", "kind")
        let kinds = StoreKind.allCases.map(\.rawValue).joined(separator: ", ")
        let kind = try query.value("kind", or: .invalidParameter("kind must be one of \(kinds)")) {
          StoreKind(rawValue: $0)
        }
        return try await listStores(query, kind: kind, named: "stores")
      },
      .administrator(.get, "/v1/admin/guests") { call in
        try await listStores(try call.query("limit", "after"), kind: .guest, named: "guests")
      },
      .administrator(.get, "/v1/admin/users", listUsers),
      .administrator(.get, "/v1/admin/lists", listLists),
      .administrator(.get, "/v1/admin/sessions", listSessions),
    ]
  }

  private static func limit(_ query: QueryParameters) throws(Problem) -> Int {
    try query.int("limit", in: 1...rows, default: rows)
  }

  // MARK: Stores

  private func listStores(
    _ query: QueryParameters, kind: StoreKind?, named list: String
  ) async throws -> Response {
    let limit = try Self.limit(query)
    let after = try query.value("after", or: .invalidPageToken) { StoreName(key: $0) }
    let names = try await names(of: kind, after: after, limit: limit + 1)
    let figures = try await engine.figures(of: Array(names.prefix(limit)))
    return .json { writer in
      writer.objects(list, of: figures) { store, writer in
        writer.member("name", store.name.shownName)
        writer.member("kind", StoreKind(of: store.name).rawValue)
        writer.member("isOpen", stores.isInUse(store.name))
        Self.write(store, to: &writer)
      }
      if names.count > limit, let last = figures.last { writer.member("next", last.name.key) }
    }
  }

  /// The names of stores after a given one, of one kind or of all, in the order of their keys.
  private func names(
    of kind: StoreKind?, after: StoreName?, limit: Int
  ) async throws -> [StoreName] {
    var names: [StoreName] = []
    for namespace in kind.map({ [$0.namespace] }) ?? StoreName.namespaces where names.count < limit
    {
      if let after, namespace.precedesBytes(of: after.namespace) { continue }
      let isReached = after?.namespace == namespace
      names += try await engine.names(
        in: namespace, after: isReached ? after?.key : nil, limit: limit - names.count)
    }
    return names
  }

  /// Writes what is known of a store, and omits the rest.
  private static func write(_ store: StoreFigures, to writer: inout JSONWriter) {
    if let bytes = store.bytes { writer.member("bytes", Int(bytes)) }
    if let counts = store.counts {
      writer.member("documents", Int(counts.documents))
      writer.member("deleted", Int(counts.deleted))
      writer.member("sequence", Int(counts.lastSequence))
    }
    if let changed = store.changedAt { writer.member("lastUsedAt", changed.rfc3339) }
  }

  // MARK: People

  private func listUsers(_ call: Call) async throws -> Response {
    let query = try call.query("limit", "after", "name", "sort")
    let limit = try Self.limit(query)
    let name = try query.text("name", maximumBytes: UserName.maximumBytes)
    let wanted = try query.value("sort", or: .invalidParameter("sort must be name or created")) {
      UserOrder(rawValue: $0)
    }
    let order = wanted ?? (name == nil ? nil : .name)
    let after = try query.text("after", maximumBytes: Self.positionBytes)
    guard let page = try await accounts.users(named: name, in: order, after: after, limit: limit)
    else { throw Problem.invalidPageToken }
    let stores = try await engine.figures(of: page.users.compactMap { $0.id.map(StoreName.user) })
    let figures = Dictionary(stores.map { ($0.name, $0) }) { $1 }
    return .json { writer in
      writer.objects("users", of: page.users) { user, writer in
        if let name = user.name { writer.member("username", name) }
        if let id = user.id { writer.member("id", id.text) }
        if !user.createdAt.isEmpty { writer.member("createdAt", user.createdAt) }
        if let id = user.id, let store = figures[.user(id)] { Self.write(store, to: &writer) }
      }
      if let next = page.next { writer.member("next", next) }
    }
  }

  private func listLists(_ call: Call) async throws -> Response {
    let query = try call.query("limit", "after")
    let limit = try Self.limit(query)
    let after = try query.value("after", or: .invalidPageToken) {
      AccountID($0).map(StoreName.list)
    }
    let names = try await engine.names(in: "list", after: after?.key, limit: limit + 1)
    let ids = names.prefix(limit).compactMap { if case .list(let id) = $0 { id } else { nil } }
    let figures = try await engine.figures(of: ids.map(StoreName.list))
    let members = try await lists.directory.memberCounts(of: ids)
    return .json { writer in
      writer.objects("lists", of: zip(zip(ids, figures), members)) { found, writer in
        writer.member("id", found.0.0.text)
        writer.member("members", found.1)
        Self.write(found.0.1, to: &writer)
      }
      if names.count > limit, let last = ids.last { writer.member("next", last.text) }
    }
  }

  private func listSessions(_ call: Call) async throws -> Response {
    let query = try call.query("limit", "after")
    let page = accounts.sessions(
      after: try query.text("after", maximumBytes: 128), limit: try Self.limit(query))
    return .json { writer in
      writer.objects("sessions", of: page.sessions) { session, writer in
        writer.member("id", session.id)
        writer.member("kind", session.principal.kind.rawValue)
        writer.member("account", session.principal.id.text)
        if let name = session.principal.username { writer.member("username", name) }
        writer.member("expiresAt", session.expiresAt.rfc3339)
      }
      if let next = page.next { writer.member("next", next) }
    }
  }

}

extension Route {
  /// A route of the administrator's. No cache may keep its answers, which are about other people and the server.
  static func administrator(
    _ method: HTTPRequest.Method, _ template: String, access: Permit<Void> = .administrator,
    completion: Completion = .withClient,
    _ run: @escaping @Sendable (Call) async throws -> Response
  ) -> Route {
    Route(method, template, access: access, answer: .uncached, completion: completion) { call, _ in
      try await run(call)
    }
  }
}

extension Problem {
  static let invalidPageToken = Problem.invalidParameter(
    "after must be what next was on the page before")
  static let invalidNext = Problem.invalidParameter("after must be the next of an earlier answer")
}

/// The kinds of stores, with the names that the administrator's pages use.
enum StoreKind: String, CaseIterable {
  case guest, user, list, database, service

  /// The kind of a store.
  init(of name: StoreName) {
    switch name {
    case .guest: self = .guest
    case .user: self = .user
    case .list: self = .list
    case .named: self = .database
    case .system, .staged: self = .service
    }
  }

  /// The namespace of ``StoreName`` for this kind.
  var namespace: String {
    switch self {
    case .guest, .user, .list: rawValue
    case .database: "named"
    case .service: "system"
    }
  }
}

extension StoreName {
  /// The name that the administrator sees: that of a database, otherwise the store's name in the sync protocol.
  var shownName: String {
    switch self {
    case .guest(let id), .user(let id), .list(let id): namespace + "-" + id.text
    case .named(let name): name.text
    case .system, .staged: namespace
    }
  }
}
