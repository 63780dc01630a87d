import Accounts
import CouchSync
import Documents
import HTTPServer
import Lists
import Stores
import Synchronization

/// One database with the rights of one caller. It is leased for each operation.
///
/// Each lease looks up the caller's role again: a body may take a minute to arrive, and a permission may end meanwhile.
struct CouchStore: Sendable {
  let stores: DatabaseManager
  /// Knows who exists.
  let accounts: AccountService
  /// Knows the members of lists.
  let lists: ListService
  let name: StoreName
  /// The database name that clients use.
  let database: String
  let caller: Principal
  /// What decides its writes besides their rules.
  let context: WriteContext
  /// The memory and the slot of the request; nil where nothing is accounted for.
  var reservation: RequestReservation?
  /// What the documents are, in the replicator's database; nil in any other one.
  var replications: (any Replications)?

  /// Lends the database for an operation that writes.
  /// - Parameter creating: whether the operation creates an absent store of the caller's own. Without it such a store
  ///   appears empty.
  /// - Throws: the errors of `use` and of opening a store, with CouchDB's texts; 404 for a database that is absent or
  ///   that the caller may not use; 403 without the right, and for a list that the caller was on.
  func write<Value>(
    needing right: CouchRole.Right = .use, creating: Bool = true,
    _ use: (CouchDatabase) async throws -> Value
  ) async throws -> Value {
    let watch = list.map { DocumentWatch(ListDocument.id(of: $0)) }
    let value = try await stores.withStore(name, creating: isOwn && creating) { store in
      let value = try await use(try await database(store, needing: right, noting: watch))
      // Checks the role again, as for an account: if it ended during the write, the answer is an error.
      if !isOwn, caller.kind != .administrator { _ = try await database(store, needing: right) }
      // A security document names people, whether they exist or not.
      if case .named = name, caller.kind == .user,
        try await !accounts.isStillValid(caller, isExact: true)
      {
        throw ServiceError.invalidToken("ended")
      }
      return value
    }
    // A device may have written an old list of members into the list's document. `show` overwrites it with the present
    // members, now or later.
    if let list, watch?.isWritten == true { try? await lists.show(list) }
    replications?.noteDocuments()
    return value
  }

  /// The shared list of this database; nil for any other database.
  private var list: AccountID? {
    guard case .list(let id) = name else { return nil }
    return id
  }

  /// Lends the database for an operation that changes no document; a query may bring its index up to date. An absent
  /// store of the caller's own appears empty.
  /// - Throws: the errors of ``write(needing:creating:_:)``.
  func read<Value>(
    needing right: CouchRole.Right = .use,
    _ use: (CouchDatabase) async throws -> Value
  ) async throws -> Value {
    try await stores.withStore(name, creating: false) { store in
      try await use(try await database(store, needing: right))
    }
  }

  /// A document as it is stored: in the replicator's database its credentials are encrypted.
  /// - Parameter id: its id; nil for the one in the body.
  /// - Parameter isNewEdit: false for a peer's revision, which need not describe a replication.
  /// - Throws: 403 for one that should describe a replication and does not.
  func sealed(
    _ body: JSONNode, as id: DocumentID? = nil, isNewEdit: Bool = true
  ) async throws -> JSONNode {
    guard let replications, body.kind == .object else { return body }
    // Ids with `_` are those of design documents and of local ones.
    let isNamed = (id?.text ?? body["_id"]?.string)?.utf8.first == UInt8(ascii: "_")
    guard isNewEdit, !isNamed else { return try await replications.sealed(body) }
    return try await replications.sealed(replications.checked(body, by: caller.username))
  }

  /// Checks a right before anything is read of the request's body.
  /// - Throws: the errors of ``write(needing:creating:_:)``.
  func require(_ right: CouchRole.Right) async throws { try await read(needing: right) { _ in } }

  /// Creates the caller's own store.
  /// - Throws: 412 `file_exists` if it exists.
  func make() async throws {
    try await stores.withStore(name, creating: false) { store in
      guard store == nil else { throw ServiceError.databaseExists }
    }
    try await write { _ in }
  }

  /// The caller as the reader of an answer that lasts longer than a request.
  func reader(closing connection: @escaping @Sendable () -> Void) -> Subscription.Reader {
    Subscription.Reader(
      author: caller.author, device: context.device, right: right,
      goodUntil: accounts.end(of: caller),
      mayRead: { try await isStillAllowed() }, closeConnection: connection)
  }

  /// Whether the caller may still read. What another server has done counts, too.
  /// - Throws: the stores' errors.
  private func isStillAllowed() async throws -> Bool {
    guard try await accounts.isStillValid(caller, isExact: true) else { return false }
    guard !isOwn else { return true }
    return try await stores.withStore(name, creating: false) { store in
      try await role(in: store) != nil
    }
  }

  /// Identifies the caller's right: the same text for the same credentials and the same store.
  private var right: String {
    [
      name.key, caller.kind.rawValue, caller.id.text, caller.tokenID ?? "", "\(caller.epoch)",
      caller.keyID?.text ?? "", caller.expiresAt.map { "\($0.milliseconds)" } ?? "",
    ].joined(separator: "|")
  }

  /// Identifies the caller, whatever the credentials.
  var principal: String { caller.kind.rawValue + "|" + caller.id.text }

  /// The size limits of its documents.
  var documentLimits: DocumentLimits { DocumentLimits(stores.limits(of: name)) }

  /// The most bytes of one attachment.
  var attachmentBytes: Int { stores.limits(of: name).attachmentBytes }

  /// The most bytes that it may have.
  var storedBytes: Int64 { stores.limits(of: name).bytes }

  /// Whether the caller is the administrator.
  var isAdministrators: Bool { caller.kind == .administrator }

  /// Whether it is the caller's own store, which the first write creates.
  private var isOwn: Bool { caller.kind != .administrator && name == caller.store }

  /// The caller's role in a store; nil without one, as for an absent database.
  private func role(in store: DocumentStore?) async throws -> CouchRole? {
    if isOwn { return .owner }
    guard let store else { return nil }
    if case .list(let id) = name {
      guard caller.kind == .user else { return nil }
      return try await lists.role(of: caller.id, in: id).map { .onList(id, $0) }
    }
    guard case .named = name else { return nil }
    if caller.kind == .administrator { return .administrator }
    return CouchRole(of: caller, in: try await SecurityDocument.stored(in: store))
  }

  /// The error for a caller without a role. A client of a former member stops at `forbidden`; it would ask for an absent
  /// database for ever.
  private func refusal() async throws -> ServiceError {
    guard let list, caller.kind == .user, try await lists.hasLeft(list, caller.id) else {
      return .noDatabase
    }
    return ServiceError(.forbidden, "You are not on this list any more")
  }

  private func database(
    _ store: DocumentStore?, needing right: CouchRole.Right, noting written: DocumentWatch? = nil
  ) async throws -> CouchDatabase {
    guard let role = try await role(in: store) else { throw try await refusal() }
    guard role.has(right) else { throw ServiceError.missing(right) }
    return CouchDatabase(
      name: database,
      store: store ?? stores.absent(name), as: context, saying: ErrorTable.couchWord,
      mayDesign: role.has(.design), rule: replications?.writeRule ?? role.rule(noting: written),
      reserveAnswer: { [reservation] in reservation?.reserveAnswer($0) ?? true })
  }
}

/// Notices whether a request writes a certain document.
final class DocumentWatch: Sendable {
  private let id: DocumentID
  private let flag = Atomic(false)

  /// A watch for a document that is not written yet.
  init(_ id: DocumentID) { self.id = id }

  /// Notes that a document is written.
  func note(_ id: DocumentID) {
    if id == self.id { flag.store(true, ordering: .relaxed) }
  }

  /// Whether the document was written.
  var isWritten: Bool { flag.load(ordering: .relaxed) }
}

/// A caller's role in a database, which decides about their rights.
///
/// Source: CouchDB, "Security: authorization". There are no roles but `_admin`, so a security document gives rights
/// only to names.
enum CouchRole: Sendable {
  /// The guest or user whose own store it is.
  case owner
  /// A member of a shared list.
  case onList(AccountID, ListRole)
  /// A user among the members of the security document.
  case member
  /// A user among the administrators of the security document.
  case databaseAdministrator
  /// The server's administrator, in a database that they created.
  case administrator

  /// The rights that operations need.
  enum Right: Sendable {
    /// Read, and write documents other than design documents.
    case use
    /// Write design documents.
    case design
    /// Give free disk space back.
    case compact
    /// Remove revisions without a trace.
    case purge
    /// Change the security document.
    case secure
  }

  /// The role that a security document gives to a user; nil if it doesn't name them.
  init?(of caller: Principal, in security: SecurityDocument) {
    guard caller.kind == .user, let name = try? UserName(given: caller.username ?? "") else {
      return nil
    }
    if Self.names(security.administrators, contain: name) {
      self = .databaseAdministrator
    } else if Self.names(security.members, contain: name) {
      self = .member
    } else {
      return nil
    }
  }

  /// Whether the role includes a right.
  func has(_ right: Right) -> Bool {
    switch (right, self) {
    case (.use, _): true
    case (.design, .onList(_, let role)), (.compact, .onList(_, let role)): role == .owner
    case (.design, .member), (.compact, .member): false
    case (.design, _), (.compact, _): true
    case (.purge, .databaseAdministrator), (.purge, .administrator): true
    case (.secure, .administrator): true
    case (.purge, _), (.secure, _): false
    }
  }

  /// The additional write rule of the role.
  /// - Parameter written: is told the id of each document that is written to a list.
  func rule(noting written: DocumentWatch?) -> WriteRule {
    guard case .onList(let list, let role) = self else { return .none }
    let rule = ListWriteRule(list, role: role)
    return WriteRule(
      refusal: { rule.refusal(of: $0) },
      refusalOfRevision: { revision, view in
        written?.note(revision.id)
        return try rule.refusal(
          of: revision.id, after: revision.parent, body: revision.body,
          isDeleted: revision.isDeleted, in: view)
      })
  }

  /// Compares names as ``UserName`` does. An invalid user name matches nobody.
  private static func names(_ names: [String], contain name: UserName) -> Bool {
    names.contains { (try? UserName(given: $0)) == name }
  }
}
