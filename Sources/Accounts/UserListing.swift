import Documents
import Scheduling
package import Stores

/// The order of accounts, for the operator.
package enum UserOrder: String, Sendable {
  /// By name, in lower case, by bytes; those without one first.
  case name
  /// The newest first.
  case created
}

/// An account, for the operator.
package struct ListedUser: Sendable, Equatable {
  /// The user name; nil for a user of another issuer, and for a damaged account.
  package let name: String?
  /// The account's id; nil for a damaged one.
  package let id: AccountID?
  /// When the account was created, RFC 3339.
  package let createdAt: String
}

/// A page of accounts.
package struct UserPage: Sendable {
  /// The accounts.
  package var users: [ListedUser] = []
  /// The position after which the next page starts; nil at the end.
  package var next: String?
}

extension AccountService {
  /// A page of the accounts. The order is stable as long as no account is added or removed; an account that stays is on
  /// one page and no other even so.
  /// - Parameter name: a text that the names have in them, in any case; nil for all accounts.
  /// - Parameter order: with an order every account is looked at for each page. Nil for the order of the store.
  /// - Parameter last: ``UserPage/next`` of the page before; nil for the first page.
  /// - Returns: nil for a position that is none.
  /// - Throws: the store's errors.
  package func users(
    named name: String? = nil, in order: UserOrder? = nil, after last: String?, limit: Int
  ) async throws -> UserPage? {
    let position = last.flatMap { UserPosition($0, in: order) }
    guard (position == nil) == (last == nil) else { return nil }
    return try await accounts.users(
      UserSelection(
        name: name.flatMap { $0.isEmpty ? nil : $0.lowercased() }, order: order,
        after: position, limit: limit))
  }
}

/// Where an account stands in an order: what it is ordered by, and the end of its document's id.
struct UserPosition: Sendable, Equatable {
  let key: String
  let id: String

  init(key: String, id: String) { (self.key, self.id) = (key, id) }

  /// Reads ``text(in:)``; nil for any other text.
  init?(_ text: String, in order: UserOrder?) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard order != nil else {
      self.init(key: "", id: text)
      return
    }
    guard parts.count == 2, let key = Base64URL.decode(parts[1].utf8) else { return nil }
    self.init(key: String(decoding: key, as: UTF8.self), id: String(parts[0]))
  }

  /// The position as a text that a client sends back.
  func text(in order: UserOrder?) -> String {
    guard order != nil else { return id }
    var bytes = Array((id + ".").utf8)
    Base64URL.append(Array(key.utf8), to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  func precedes(_ other: UserPosition, in order: UserOrder?) -> Bool {
    if !key.equalsBytes(of: other.key) {
      return order == .created ? other.key.precedesBytes(of: key) : key.precedesBytes(of: other.key)
    }
    return id.precedesBytes(of: other.id)
  }
}

/// The first accounts of an order behind a position, while all accounts are looked at.
struct UserSelection: Sendable {
  let name: String?
  let order: UserOrder?
  let after: UserPosition?
  let limit: Int
  /// The accounts behind those that were looked at.
  private(set) var rest: DocumentRange
  /// The accounts so far, in their order, and one more if there are more.
  private var found: [(position: UserPosition, user: ListedUser)] = []

  init(name: String?, order: UserOrder?, after: UserPosition?, limit: Int) {
    (self.name, self.order, self.after, self.limit) = (name, order, after, limit)
    let all = AccountKeys.users
    // In the order of the store, the position is where to begin.
    rest = order == nil ? after.map { all.behind(AccountKeys.userPrefix + $0.id) } ?? all : all
  }

  var page: UserPage {
    var page = UserPage(users: found.prefix(limit).map(\.user))
    if found.count > limit, limit > 0 { page.next = found[limit - 1].position.text(in: order) }
    return page
  }

  /// Takes the next account of the store.
  /// - Parameter user: nil if it was erased.
  /// - Returns: whether further accounts can change the page.
  mutating func take(_ user: ListedUser?, _ id: DocumentID) -> Bool {
    rest = rest.behind(id.text)
    guard let user, name.map({ user.name?.lowercased().contains($0) ?? false }) ?? true else {
      return true
    }
    let position = UserPosition(
      key: key(of: user), id: String(id.text.dropFirst(AccountKeys.userPrefix.count)))
    if let after, !after.precedes(position, in: order) { return true }
    if found.count <= limit || position.precedes(found[limit].position, in: order) {
      let place = found.firstIndex { position.precedes($0.position, in: order) } ?? found.endIndex
      found.insert((position, user), at: place)
      if found.count > limit + 1 { found.removeLast() }
    }
    return order != nil || found.count <= limit
  }

  private func key(of user: ListedUser) -> String {
    switch order {
    case nil: ""
    case .name: (user.name ?? "").lowercased()
    case .created: user.createdAt
    }
  }
}

extension AccountStore {
  /// How many ids are read at a time before their accounts are.
  private static let idsAtOnce = 100

  /// A page of the accounts, read in slices. A damaged account has neither name nor id.
  func users(_ selection: UserSelection) async throws -> UserPage {
    try await stores.read(.system, inSlices: selection) { selection, view in
      while true {
        var ids: [DocumentID] = []
        let isRead: Void? = try unlessDamaged {
          try view.documents(selection.rest) { document in
            ids.append(document.id)
            return ids.count < Self.idsAtOnce && !view.slice.isOver
          }
        }
        if isRead == nil {
          // The row of the next id, which an engine may read, too, can't be read.
          let rest = ids.last.map { selection.rest.behind($0.text) } ?? selection.rest
          if let id = try view.count(rest, among: 1).last { ids.append(id) }
        }
        for id in ids {
          guard selection.take(try Self.listed(id, in: view), id) else { return selection.page }
          if view.slice.isOver { return nil }
        }
        if ids.isEmpty { return selection.page }
      }
    } ?? UserPage()
  }

  private static func listed(_ id: DocumentID, in view: any StoreView) throws -> ListedUser? {
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
