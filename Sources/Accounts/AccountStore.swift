import Documents
import Stores

/// Accounts in the system store: every change is one transaction.
struct AccountStore: Sendable {
  /// The stores.
  let stores: DatabaseManager

  /// Whether a proof that was good once still is.
  enum Standing: Sendable {
    case good
    /// The guest has become a user's, or was erased.
    case spent
    /// The session was logged out, or the account has another epoch, or is gone.
    case ended
  }

  /// Two or three indexed reads of one state.
  func standing(of principal: Principal) async throws(AccountError) -> Standing {
    let userID: DocumentID?
    if principal.kind == .user {
      guard let name = try? UserName(given: principal.username ?? "") else { return .ended }
      userID = AccountKeys.user(name)
    } else {
      userID = nil
    }
    return try await read(orAbsent: principal.kind == .user ? .ended : .good) {
      view throws(StoreError) in
      if let session = principal.tokenID, try view.local(AccountKeys.revoked(session)) != nil {
        return .ended
      }
      if principal.kind == .guest {
        return try view.document(AccountKeys.guest(principal.id)) == nil ? .good : .spent
      }
      guard let userID else { return .good }
      guard let user = try UserDocument(view.document(userID)) else { return .ended }
      return user.id == principal.id && user.epoch == principal.epoch ? .good : .ended
    }
  }

  /// A user by name.
  func user(_ name: UserName) async throws(AccountError) -> KnownUser? {
    let (id, local) = (AccountKeys.user(name), AccountKeys.credentials(name))
    return try await read(orAbsent: nil) { view throws(StoreError) in
      guard let document = try UserDocument(view.document(id)) else { return nil }
      guard let stored = try view.local(local) else { throw Self.unreadable }
      return KnownUser(
        document: document, credentials: try Credentials(stored), revision: stored.revision)
    }
  }

  /// A user by the name that they give: first by the letter, so that names of before go on, then with the usual
  /// forms of wide and narrow characters, as new names are kept.
  func knownUser(_ name: UserName) async throws(AccountError) -> KnownUser? {
    if let known = try await user(name) { return known }
    guard let mapped = name.widthMapped else { return nil }
    return try await user(mapped)
  }

  /// Ends a session, durably.
  /// - Parameter forgottenAt: when none of its tokens can work any more.
  func revoke(_ session: String, forgottenAt end: Timestamp) async throws(AccountError) {
    try await update([]) { (_, _) throws(StoreError) in
      let note = LocalDocument(revision: 1, body: Array("{}".utf8))
      return Decision(
        locals: [LocalEdit(AccountKeys.revoked(session), note, expires: end)], value: ())
    }
  }

  /// Reads the system store; `absent` where there is none yet.
  func read<Value: Sendable>(
    orAbsent absent: Value,
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(AccountError) -> Value {
    try await stores.withStore(.system, creating: false) { store throws(AccountError) in
      guard let store else { return absent }
      do throws(StoreError) {
        return try await store.glance(query)
      } catch {
        throw AccountError(error)
      }
    }
  }

  /// Changes the system store, making it if there is none.
  /// - Parameter decide: also gets how many revisions a document keeps.
  @discardableResult
  func update<Value: Sendable>(
    _ ids: Set<DocumentID>,
    _ decide: @escaping @Sendable (any StoreView, Int) throws(StoreError) -> Decision<Value>
  ) async throws(AccountError) -> Value {
    try await stores.withStore(.system) { store throws(AccountError) in
      let limit = store.revisionLimit
      do throws(StoreError) {
        return try await store.update(ids) { view throws(StoreError) in try decide(view, limit) }
          .value
      } catch {
        throw AccountError(error)
      }
    }
  }

  /// A document's next state, whatever its present one: the caller has looked at that in the same
  /// transaction. Nil puts an empty tombstone.
  static func put(
    _ id: DocumentID, _ value: JSONValue?, in view: any StoreView, limit: Int
  ) throws(StoreError) -> Mutation {
    let tree = try view.tree(id)
    return try applying { () throws(DocumentError) in
      let live = tree?.winner.flatMap { $0.isDeleted ? nil : $0.revision }
      let body: DocumentBody = if let value { try DocumentBody(value) } else { .empty }
      return try Edit.put(
        id, in: tree, base: live, body: body, isDeleted: value == nil, limit: limit)
    }
  }

  /// The root of a stored body.
  static func root(of body: [UInt8]) throws(StoreError) -> JSONNode {
    do { return try ParsedJSON(body, limits: .document).root } catch { throw unreadable }
  }

  /// The error of a document that this service did not write as it is.
  static let unreadable = StoreError(.integrity, "An account's document can't be read.")
}
