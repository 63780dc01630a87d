package import Documents
import Lanes
package import Stores

/// Who has an account, for the operator.
package struct ListedUser: Sendable, Equatable {
  /// The name; nil for who comes with another issuer's token, and for what can't be read.
  package let name: String?
  /// The account's id; nil for a damaged one.
  package let id: AccountID?
  /// When it was made, RFC 3339.
  package let createdAt: String
}

/// A session, for the operator.
package struct ListedSession: Sendable, Equatable {
  /// The session's id, which proves nothing.
  package let id: String
  /// Whose.
  package let principal: Principal
  /// When its present token ends.
  package let expiresAt: Timestamp
}

extension AccountService {
  /// Everybody who has an account, in no order that means anything.
  /// - Throws: the store's errors.
  package func users() async throws -> [ListedUser] {
    try await accounts.users()
  }

  /// A page of those who have an account, in an order that does not change while nobody comes or goes.
  /// - Parameter last: start after this place; nil from the first.
  /// - Returns: besides, where to go on; nil at the end.
  /// - Throws: the store's errors.
  package func users(
    after last: String?, limit: Int
  ) async throws -> (users: [ListedUser], next: String?) {
    try await accounts.users(after: last, limit: limit)
  }

  /// The sessions whose tokens this process has seen lately and takes, in the order of their ids. A token is not kept
  /// anywhere, so there is no list of all.
  package func sessions(
    after last: String?, limit: Int
  ) -> (sessions: [ListedSession], next: String?) {
    let all = proofs.sessions(at: now())
    let rest = all.drop { session in last.map { !$0.precedesBytes(of: session.id) } ?? false }
    let page = Array(rest.prefix(limit))
    return (page, rest.count > limit ? page.last?.id : nil)
  }

  /// Erases a user, for the command line: as if they had asked for it themselves.
  /// - Parameter user: a name, or the id of an account.
  /// - Throws: `unknownUser`; the store's errors.
  package func eraseUser(_ user: String) async throws {
    let ended = try await ended(user)
    guard !ended.isEmpty else {
      throw ServiceError(.unknownUser, "There is no user of this name or id.")
    }
    for store in ended { try await accounts.erase(store) }
  }

  private func ended(_ user: String) async throws -> [StoreName] {
    if let name = try? UserName(user), let known = try await accounts.knownUser(name) {
      let id = known.document.id
      let ended = try await accounts.endUser(known.name ?? name, id: id)
      proofs.end { $0.id == id }
      return ended
    }
    guard let id = AccountID(user) else { return [] }
    let ended = try await accounts.endUsers([id])
    proofs.end { $0.id == id }
    return ended
  }
}

extension AccountStore {
  /// How far the walk over the accounts has come.
  private struct Walk: Sendable {
    var ids: [DocumentID]?
    var next = 0
    var found: [ListedUser] = []
  }

  /// Everybody who has an account; a damaged one is listed without a name or an id.
  func users() async throws -> [ListedUser] {
    try await stores.withStore(.system, creating: false) { store in
      guard let store else { return [] }
      return try await store.read(inSlices: Walk()) { walk, view in
        let ids = if let ids = walk.ids { ids } else { try view.ids(ofType: "user") }
        walk.ids = ids
        while walk.next < ids.count {
          if let user = try Self.listed(ids[walk.next], in: view) { walk.found.append(user) }
          walk.next += 1
          if Slice.isOver, walk.next < ids.count { return nil }
        }
        return walk.found
      }
    }
  }

  /// How far the walk over a page has come.
  private struct PageWalk: Sendable {
    var range: DocumentRange
    var found: [ListedUser] = []
    var last: String?
  }

  /// A page of those who have an account, by the hashes of their names.
  func users(
    after last: String?, limit: Int
  ) async throws -> (users: [ListedUser], next: String?) {
    let whole = DocumentRange(
      start: AccountKeys.userPrefix, end: AccountKeys.userPrefix + "~", includesEnd: false)
    let range = last.map { whole.behind(AccountKeys.userPrefix + $0) } ?? whole
    return try await stores.withStore(.system, creating: false) { store in
      guard let store else { return ([], nil) }
      return try await store.read(inSlices: PageWalk(range: range)) { walk, view in
        var (isCut, next) = (false, String?.none)
        var ids: [DocumentID] = []
        try view.documents(walk.range) { document in
          guard walk.found.count + ids.count < limit else {
            next = ids.last?.text ?? walk.last
            return false
          }
          ids.append(document.id)
          isCut = Slice.isOver
          return !isCut
        }
        for id in ids { if let user = try Self.listed(id, in: view) { walk.found.append(user) } }
        guard isCut, let reached = ids.last else {
          return (walk.found, next.map { String($0.dropFirst(AccountKeys.userPrefix.count)) })
        }
        walk.last = reached.text
        walk.range = walk.range.behind(reached.text)
        return nil
      }
    }
  }

  private static func listed(
    _ id: DocumentID, in view: any StoreView
  ) throws -> ListedUser? {
    do {
      guard let user = try UserDocument(view.document(id)) else { return nil }
      let name = try view.local(LocalID(receipt: id.text)).map { local in
        try Credentials(local).name
      }
      return ListedUser(name: name, id: user.id, createdAt: user.createdAt)
    } catch {
      guard ServiceError(error)?.code == .integrity else { throw error }
      return ListedUser(name: nil, id: nil, createdAt: "")
    }
  }
}
