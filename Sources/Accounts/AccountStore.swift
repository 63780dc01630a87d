import Documents
package import Stores

/// The accounts in the system store. Every change is one transaction. What is recorded of accounts has the service as its
/// author, as a person who signs up or logs in is not authenticated yet.
struct AccountStore: Sendable {
  let stores: DatabaseManager
  /// The changes to shared lists when an account is deleted.
  let lists: ListErasure

  /// Whether a proof that was valid once is still valid.
  enum Standing: Sendable {
    case good
    /// A user has adopted the guest, or the guest was erased.
    case spent
    /// The session was logged out, the account has another epoch, or it was erased.
    case ended
  }

  /// Checks a principal with two or three indexed reads of one state.
  func standing(of principal: Principal) async throws -> Standing {
    let isUser = principal.kind == .user
    let name = try? UserName(given: principal.username ?? "")
    return try await read(orAbsent: isUser ? .ended : .good) { view in
      if let session = principal.tokenID, try view.local(AccountKeys.revoked(session)) != nil {
        return .ended
      }
      if principal.kind == .guest {
        return try view.document(AccountKeys.guest(principal.id)) == nil ? .good : .spent
      }
      guard isUser else { return .good }
      guard let name, let user = try UserDocument(view.document(AccountKeys.user(name))) else {
        return .ended
      }
      return user.id == principal.id && user.epoch == principal.epoch ? .good : .ended
    }
  }

  /// A user's document by name. Users of other issuers have it, too, but no credentials.
  func document(_ name: UserName) async throws -> UserDocument? {
    let id = AccountKeys.user(name)
    return try await read(orAbsent: nil) { view in try UserDocument(view.document(id)) }
  }

  func user(_ name: UserName) async throws -> KnownUser? {
    let (id, local) = (AccountKeys.user(name), AccountKeys.credentials(name))
    return try await read(orAbsent: nil) { view in
      guard let document = try UserDocument(view.document(id)) else { return nil }
      guard let stored = try view.local(local) else { throw Self.unreadable }
      return KnownUser(document: document, credentials: try Credentials(stored))
    }
  }

  /// Reads the system store. Returns `absent` when it does not exist yet.
  func read<Value: Sendable>(
    orAbsent absent: Value, _ query: @escaping StoreQuery<Value>
  ) async throws -> Value { try await stores.readInline(.system, query) ?? absent }

  static func root(of body: [UInt8]) throws -> JSONNode {
    do { return try ParsedJSON(body, limits: .document).root } catch { throw unreadable }
  }

  static let unreadable = unreadable()

  /// - Parameter detail: which documents, for the log.
  static func unreadable(_ detail: String = "") -> ServiceError {
    ServiceError(.integrity, "An account's document can't be read.", detail: detail)
  }

  /// Records that a token was used, creates the account if there is none, and claims the guest, in one transaction.
  /// When several requests bring the same token, the first commit wins.
  /// - Parameter token: the hash of the signed bytes. The signature is left out because ECDSA signatures can be
  ///   written in two ways.
  /// - Parameter forgottenAt: when the token is refused for its age in any case.
  /// - Parameter newcomer: the account to create if there is none yet.
  /// - Throws: `invalidToken` for a token that was used; `guestSpent` when another user has adopted the guest, or it
  ///   was erased.
  func exchange(
    token: String, forgottenAt end: Timestamp, for name: UserName, newcomer: UserDocument,
    adopting guest: AccountID?
  ) async throws -> UserDocument {
    let (userID, note) = (AccountKeys.user(name), AccountKeys.exchanged(token))
    let ids = Set([userID] + [guest].compactMap { $0.map(AccountKeys.guest) })
    return try await stores.update(.system, loading: ids, as: .server) { changes in
      let view = changes.view
      guard try view.local(note) == nil else {
        throw ServiceError.invalidToken("an ID token that was exchanged before")
      }
      let known = try UserDocument(view.document(userID))
      if known == nil, guest == nil { try stores.requireSpaceForNewcomers() }
      var user = known ?? newcomer
      if let guest, try changes.claim(guest, for: user.id) { user.adopting.append(guest) }
      if known == nil || !changes.isEmpty { try changes.replace(userID, by: user.value) }
      let used = LocalDocument(revision: 1, body: Array("{}".utf8))
      changes.write(LocalEdit(note, used, expires: end))
      return user
    }
  }

  /// A user's present claim of a guest.
  /// - Returns: nil when that user has not claimed the guest, or not any more.
  static func claim(
    of guest: AccountID, by user: AccountID, in view: any StoreView
  ) throws -> String? {
    guard let claim = try view.document(AccountKeys.guest(guest)), !claim.isDeleted else {
      return nil
    }
    let root = try root(of: claim.body)
    guard root["user"]?.stringEquals(user.text) == true else { return nil }
    return root["claim"]?.string ?? ""
  }

  /// Claims a guest for a user and records in the user's document that the adoption is in progress. The same user
  /// may repeat the claim. When several users claim a guest, the first commit wins.
  /// - Throws: `guestSpent` when another user has adopted the guest, or it was erased; `badCredentials` when the account
  ///   does not exist any more.
  func claim(guest: AccountID, for name: UserName, id: AccountID) async throws {
    let (userID, guestID) = (AccountKeys.user(name), AccountKeys.guest(guest))
    try await stores.update(.system, loading: [userID, guestID], as: .server) { changes in
      guard var user = try UserDocument(changes.view.document(userID)), user.id == id else {
        throw ServiceError.badCredentials
      }
      guard try changes.claim(guest, for: id) else { return }
      user.adopting.append(guest)
      try changes.replace(userID, by: user.value)
    }
  }

  /// Records that an adoption is complete.
  func completeAdoption(of guest: AccountID, by userID: DocumentID, id: AccountID) async throws {
    try await stores.update(.system, loading: [userID], as: .server) { changes in
      try changes.endAdoption(of: guest, by: userID, id: id)
    }
  }

  /// Creates an account and claims its guest if there is one, in one transaction. When several requests ask for the
  /// same name, the first commit wins.
  /// - Throws: `taken`; `guestSpent` when a user has adopted the guest already, or it was erased.
  func create(_ name: UserName, _ document: UserDocument, password: PasswordHash) async throws {
    let (id, local) = (AccountKeys.user(name), AccountKeys.credentials(name))
    let ids = Set([id] + document.adopting.map(AccountKeys.guest))
    try await stores.update(.system, loading: ids, as: .server) { changes in
      let view = changes.view
      if try UserDocument(view.document(id)) != nil { throw ServiceError.taken }
      try changes.replace(id, by: document.value)
      for guest in document.adopting { _ = try changes.claim(guest, for: document.id) }
      let revision = try view.local(local)?.revision ?? 0
      let credentials = Credentials(name: name.text, password: password)
      changes.write(LocalEdit(local, credentials.document(after: revision)))
    }
  }

  /// Changes a user's password and increments the epoch, which ends every session.
  /// - Parameter epoch: the epoch that the user must have; nil for any. When several requests change the password,
  ///   the first commit wins.
  /// - Returns: the changed account; nil when there is none with that name, or when its epoch differs.
  func changePassword(
    _ name: UserName, _ password: PasswordHash, inEpoch epoch: Int? = nil
  ) async throws -> UserDocument? {
    let (id, local) = (AccountKeys.user(name), AccountKeys.credentials(name))
    return try await stores.update(.system, loading: [id], as: .server) {
      changes -> UserDocument? in
      let view = changes.view
      guard var user = try UserDocument(view.document(id)), let stored = try view.local(local),
        epoch == nil || user.epoch == epoch
      else { return nil }
      user.epoch += 1
      changes.freesSpace = true
      let credentials = Credentials(name: try Credentials(stored).name, password: password)
      try changes.replace(id, by: user.value)
      changes.write(LocalEdit(local, credentials.document(after: stored.revision)))
      return user
    }
  }
}

extension StoreChanges {
  /// Whether an account with an id and a name exists, the name spelt as at the sign-up. For rules that must not
  /// outlive the account.
  package func hasUser(_ id: AccountID, named text: String) throws -> Bool {
    guard let name = try? UserName(given: text) else { return false }
    return try UserDocument(view.document(AccountKeys.user(name.usualSpelling)))?.id == id
  }

  /// Claims a guest for a user. After an undo a guest can be claimed again, and each claim is another one.
  /// - Returns: false if the user has the guest already.
  /// - Throws: `guestSpent` when another user has adopted the guest, or it was erased.
  fileprivate mutating func claim(_ guest: AccountID, for user: AccountID) throws -> Bool {
    guard try AccountStore.claim(of: guest, by: user, in: view) == nil else { return false }
    let (id, claim) = (AccountKeys.guest(guest), AccountID.random())
    guard try view.document(id) == nil else { throw ServiceError.guestSpent }
    try replace(
      id, by: ["type": "guest", "user": .string(user.text), "claim": .string(claim.text)])
    return true
  }

  /// Removes the record that a user's adoption of a guest is in progress.
  mutating func endAdoption(of guest: AccountID, by userID: DocumentID, id: AccountID) throws {
    guard var user = try UserDocument(view.document(userID)), user.id == id,
      let index = user.adopting.firstIndex(of: guest)
    else { return }
    user.adopting.remove(at: index)
    try replace(userID, by: user.value)
  }

  /// Records a document's next state, whatever the present one is: the caller's rule has checked it. Nil writes an
  /// empty tombstone.
  mutating func replace(_ id: DocumentID, by value: JSONValue?) throws {
    let live = try view.newest(id)?.winner.flatMap { $0.isDeleted ? nil : $0.revision }
    let body = try value.map { try DocumentBody($0) } ?? .empty
    try put(id, base: live, body: body, isDeleted: value == nil)
  }
}
