import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// Finds the database that a path names, if the caller may use it.
///
/// A guest has one database, their own. A user has their own, those of their lists, and those of the administrator
/// whose security document names them. The administrator has those that they created, but no other person's own.
struct CouchDatabaseAccess: Sendable {
  /// The name by which each guest and each user can call their own store, so that an app's URL needs no id.
  private static let ownStore = "bookmarks"

  let stores: DatabaseManager
  /// Knows who exists.
  let accounts: AccountService
  /// Knows the members of lists.
  let lists: ListService
  /// The replications whose documents are in a database.
  let replications: any Replications

  /// A route below `/couch/{db}`, for callers who may use that database. For all others the database appears absent.
  /// - Parameter path: the rest of the path.
  func route(
    _ method: HTTPRequest.Method, _ path: String,
    _ run: @escaping @Sendable (Call, CouchStore) async throws -> Response
  ) -> Route {
    Route(method, "/couch/{db}" + path, access: .signedIn) { call, caller in
      let name = try call.parameter("db")
      if let absent = CouchAbsence.error(at: name, call.arguments["docid"]) { throw absent }
      var store = try await store(name, for: caller, as: call.writeContext)
      store.reservation = call.context.reservation
      return try await run(call, store)
    }
  }

  /// The database with a name.
  /// - Throws: `noDatabase` for one that is absent or that the caller may not use; the errors of opening a store.
  func store(
    _ text: String, for caller: Principal, as context: WriteContext
  ) async throws -> CouchStore {
    if caller.kind != .administrator,
      text.equalsBytes(of: caller.storeName) || text.equalsBytes(of: Self.ownStore)
    {
      return own(of: caller, as: context)
    }
    if caller.kind == .user, let list = Self.list(text) {
      return try await used(.list(list), text, caller, context)
    }
    // A guest needs no look-up, because no security document can name a guest.
    guard caller.kind != .guest, let name = DatabaseName(text), name != .remotes else {
      throw ServiceError.noDatabase
    }
    guard name == .replicator else { return try await used(.named(name), text, caller, context) }
    guard caller.kind == .administrator else { throw ServiceError.notAdministrator }
    var store = try await used(.named(name), text, caller, context)
    store.replications = replications
    return store
  }

  /// The own database of a guest or a user.
  func own(of caller: Principal, as context: WriteContext) -> CouchStore {
    CouchStore(
      stores: stores, accounts: accounts, lists: lists, name: caller.store,
      database: caller.storeName, caller: caller, context: context)
  }

  /// The database of a list whose member the caller is.
  func list(
    _ id: AccountID, for caller: Principal, as context: WriteContext
  ) async throws -> CouchStore {
    try await used(.list(id), Self.listPrefix + id.text, caller, context)
  }

  /// A database that is not the caller's own.
  private func used(
    _ name: StoreName, _ text: String, _ caller: Principal, _ context: WriteContext
  ) async throws -> CouchStore {
    let store = CouchStore(
      stores: stores, accounts: accounts, lists: lists, name: name, database: text,
      caller: caller, context: context)
    try await store.require(.use)
    return store
  }

  /// The list whose database has this name: `list-<id>`.
  private static func list(_ text: String) -> AccountID? {
    guard text.utf8.starts(with: listPrefix.utf8) else { return nil }
    return AccountID(String(Substring(text.utf8.dropFirst(listPrefix.utf8.count))))
  }

  private static let listPrefix = "list-"

  /// Creates a database, for the administrator. If several ask at once, only one gets the answer that it was created.
  /// - Throws: 400 `illegal_database_name`, 412 `file_exists`, the errors of creating a store.
  func make(_ text: String) async throws {
    let name = try Self.name(text)
    try await stores.withStore(.named(name)) { store in
      try CouchDatabase(name: text, store: store, as: .server, saying: ErrorTable.couchWord)
        .requireNew()
    }
    accounts.audit.note(AuditEvent(.databaseMade, by: .administrator, about: text))
  }

  /// Deletes a database and its content, for the administrator.
  /// - Throws: 404 `not_found`, the errors of erasing a store.
  func drop(_ text: String) async throws {
    guard let name = DatabaseName(text), name != .remotes else { throw ServiceError.noDatabase }
    guard try await stores.erase(.named(name)) else { throw ServiceError.noDatabase }
    if name == .replicator { replications.noteDocuments() }
    accounts.audit.note(AuditEvent(.databaseRemoved, by: .administrator, about: text))
  }

  /// Source of the texts: CouchDB 3, `chttpd:error_info/1`.
  private static func name(_ text: String) throws -> DatabaseName {
    if text.equalsBytes(of: ownStore) {
      throw ServiceError.illegalName("Each guest and each user calls their own store by this name.")
    }
    if let name = DatabaseName(text), name != .remotes { return name }
    if DatabaseName.isPersonal(text) {
      throw ServiceError.illegalName(
        "The stores of guests, users and lists have names of this form; the server creates them.")
    }
    if text.utf8.count > DatabaseName.maximumBytes {
      throw ServiceError(
        .databaseNameTooLong,
        "A database's name has at most \(DatabaseName.maximumBytes) bytes.")
    }
    throw ServiceError.illegalName(
      """
      Name: '\(text)'. Only lowercase characters (a-z), digits (0-9), and any of the characters \
      _, $, (, ), +, -, and / are allowed. Must begin with a letter.
      """)
  }
}
