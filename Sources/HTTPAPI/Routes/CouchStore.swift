import Accounts
import CouchSync
import Documents
import HTTPServer
import Lists
import Stores
import Synchronization

/// One database as one caller may use it, leased for each verb.
///
/// What the caller is to the database is looked up in every lease anew: a body may take a minute to arrive,
/// and a permission may end meanwhile.
struct CouchStore: Sendable {
  /// The stores.
  let stores: DatabaseManager
  /// Who is on which list.
  let lists: ListService
  /// Which store.
  let name: StoreName
  /// What clients call it.
  let database: String
  /// Who calls.
  let caller: Principal
  /// What the request holds; nil where nothing is accounted for.
  var hold: RequestHold?

  /// Lends the database for a verb that writes; an absent store of the caller's own is made.
  /// - Throws: what `use` throws, and what opening a store throws, in CouchDB's words; 404 for a database
  ///   that is absent or may not be used; 403 without the right.
  func writing<Value>(
    needing right: CouchRole.Right = .use,
    _ use: (CouchDatabase) async throws -> Value
  ) async throws -> Value {
    let watch = list.map { DocumentWatch(ListDocument.id(of: $0)) }
    let value = try await stores.withStore(name, creating: isOwn) { store in
      let value = try await use(try await database(store, needing: right, noting: watch))
      // Once more, as for an account: what was taken away meanwhile is not answered as if it were still there.
      if !isOwn, caller.kind != .administrator, right != .secure {
        _ = try await database(store, needing: .use)
      }
      return value
    }
    // What a device says of a list's members is what it knew; who they are is written over it, now or later.
    if let list, watch?.isWritten == true { try? await lists.show(list) }
    return value
  }

  /// The shared list whose database it is; nil for any other.
  private var list: AccountID? {
    guard case .list(let id) = name else { return nil }
    return id
  }

  /// Lends the database for a verb that adds nothing; an absent store of the caller's own is as an empty one.
  /// - Throws: as ``writing(needing:_:)``.
  func reading<Value>(
    needing right: CouchRole.Right = .use,
    _ use: (CouchDatabase) async throws -> Value
  ) async throws -> Value {
    try await stores.withStore(name, creating: false) { store in
      try await use(try await database(store, needing: right))
    }
  }

  /// Looks for the right before anything is read of the request.
  /// - Throws: as ``writing(needing:_:)``.
  func require(_ right: CouchRole.Right) async throws {
    try await reading(needing: right) { _ in }
  }

  /// Makes the caller's own store.
  /// - Throws: 412 `file_exists` when it is there.
  func make() async throws {
    try await stores.withStore(name, creating: false) { store in
      guard store == nil else { throw ServiceError.databaseExists }
    }
    try await writing { _ in }
  }

  /// Whether the caller still may read, for what lives longer than a request.
  /// - Throws: the stores' errors.
  func isStillAllowed(_ accounts: AccountService) async throws -> Bool {
    guard try await accounts.isStillGood(caller) else { return false }
    guard !isOwn else { return true }
    return try await stores.withStore(name, creating: false) { store in
      try await role(in: store) != nil
    }
  }

  /// What stands for the caller's permission: the same text for the same proof and the same store.
  var permission: String {
    [
      name.key, caller.kind.rawValue, caller.id.text, caller.tokenID ?? "", "\(caller.epoch)",
      caller.keyID?.text ?? "", caller.expiresAt.map { "\($0.milliseconds)" } ?? "",
    ].joined(separator: "|")
  }

  /// What stands for the caller, whichever proof they show.
  var principal: String { caller.kind.rawValue + "|" + caller.id.text }

  /// How large its documents may be.
  var documentLimits: DocumentLimits { DocumentLimits(stores.limits(of: name)) }

  /// Whether a guest calls.
  var isForGuest: Bool { caller.kind == .guest }

  /// Whether it is the caller's own, which is there as soon as it is written.
  private var isOwn: Bool { caller.kind != .administrator && name == caller.store }

  /// What the caller is to a store; nil for nothing, as for a database that is absent.
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

  private func database(
    _ store: DocumentStore?, needing right: CouchRole.Right, noting written: DocumentWatch? = nil
  ) async throws -> CouchDatabase {
    guard let role = try await role(in: store) else { throw ServiceError.noDatabase }
    guard role.has(right) else { throw ServiceError.missing(right) }
    return CouchDatabase(
      name: database,
      store: store ?? stores.absent(name),
      mayDesign: role.has(.design), rule: role.rule(noting: written),
      holdsAnswer: { [hold] in hold?.holdAnswer($0) ?? true })
  }
}

/// Whether a request writes a certain document.
final class DocumentWatch: Sendable {
  private let id: DocumentID
  private let flag = Atomic(false)

  /// It has not, as yet.
  init(_ id: DocumentID) { self.id = id }

  /// A document is written.
  func note(_ id: DocumentID) {
    if id == self.id { flag.store(true, ordering: .relaxed) }
  }

  /// Whether it was among them.
  var isWritten: Bool { flag.load(ordering: .relaxed) }
}

/// What somebody is to a database, which decides what they may do with it.
///
/// Source: CouchDB, "Security: authorization". Roles other than `_admin` don't exist here, so a security
/// document gives rights by names alone.
enum CouchRole: Sendable {
  /// The guest or user whose own store it is.
  case owner
  /// Somebody on a shared list.
  case onList(AccountID, ListRole)
  /// A user whom the security document names among the members.
  case member
  /// A user whom the security document names among the database's administrators.
  case databaseAdministrator
  /// The administrator of the server, in a database that they have made.
  case administrator

  /// What one may need a right for.
  enum Right: Sendable {
    /// Read, and write documents that are no design documents.
    case use
    /// Write design documents.
    case design
    /// Have disk space given back.
    case compact
    /// Forget revisions without a trace.
    case purge
    /// Say who may do what.
    case secure
  }

  /// What a security document makes of a user; nil where it doesn't name them.
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

  /// Whether one who is this may do that.
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

  /// What one who is this may not write besides.
  /// - Parameter written: is told the ids of documents that are written to a list.
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

  /// Names are one person's where ``UserName`` says so; what is no user's name names nobody.
  private static func names(_ names: [String], contain name: UserName) -> Bool {
    names.contains { (try? UserName(given: $0)) == name }
  }
}
