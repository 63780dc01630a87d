import Documents
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

extension AccountService {
  /// Everybody who has an account, in no order that means anything.
  /// - Throws: the store's errors.
  package func users() async throws -> [ListedUser] {
    try await accounts.users()
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
