package import Documents
package import Stores

/// A new link with its secret, which is answered only once.
package typealias IssuedLink = (link: ListLink, secret: String)

/// A link that shows a list to anybody who has it, until the owner withdraws it.
///
/// The system store has two local documents for it: `list-link/<SHA-256 of the secret>`, `{"id","list","createdAt"}`, and
/// `list-links/<list>/<id>`, `{"hash"}`. The secret itself is not stored. Both are removed when the link is withdrawn, when
/// the list ends, and when it loses its owner: nobody could withdraw the link then.
package struct ListLink: Sendable, Equatable {
  /// The link's id, with which the owner withdraws it. It opens nothing.
  package let id: AccountID
  package let list: AccountID
  package let createdAt: Timestamp
  /// The SHA-256 of the secret in hexadecimal.
  let hash: String

  init(to list: AccountID, secret: String, at now: Timestamp) {
    id = .random()
    self.list = list
    createdAt = now
    hash = Self.hash(of: secret)
  }

  private init?(hash: String, in view: any StoreView) throws {
    guard let note = try view.local(ListKeys.link(hash)) else { return nil }
    let root = try ListDirectory.root(of: note)
    guard let id = root["id"]?.string.flatMap(AccountID.init),
      let list = root["list"]?.string.flatMap(AccountID.init)
    else { return nil }
    (self.id, self.list, self.hash) = (id, list, hash)
    createdAt = ListDirectory.time("createdAt", in: root)
  }

  private static func hash(of secret: String) -> String { Hex.digest(of: secret, digits: 64) }

  /// The list that a secret shows; nil for every secret that shows none, whether it never did or does not any more.
  static func list(shownBy secret: String, in view: any StoreView) throws -> AccountID? {
    guard let link = try ListLink(hash: hash(of: secret), in: view),
      try view.local(ListKeys.list(link.list)) != nil
    else { return nil }
    return link.list
  }

  /// The links to a list, in the order of their ids.
  static func all(of list: AccountID, in view: any StoreView) throws -> [ListLink] {
    let hashes = try view.localValues(ListKeys.range(ListKeys.links(to: list))) { _, note in
      try ListDirectory.root(of: note)["hash"]?.string
    }
    return try hashes.compactMap { try ListLink(hash: $0, in: view) }
  }
}

/// The rules for links, within an update of the system store.
extension StoreChanges {
  /// Stores a link.
  /// - Throws: `quotaExceeded` when the list has too many.
  mutating func add(_ link: ListLink) throws {
    guard try ListLink.all(of: link.list, in: view).count < ListLimits.links else {
      throw ServiceError(
        .quotaExceeded, "At most \(ListLimits.links) links show a list at once: withdraw one")
    }
    note(
      ListKeys.link(link.hash),
      [
        "id": .string(link.id.text), "list": .string(link.list.text),
        "createdAt": .time(link.createdAt),
      ])
    note(ListKeys.link(link.id, to: link.list), ["hash": .string(link.hash)])
  }

  /// Withdraws a link.
  /// - Throws: `missing` for any other id.
  mutating func withdrawLink(_ id: AccountID, to list: AccountID) throws {
    guard let link = try ListLink.all(of: list, in: view).first(where: { $0.id == id }) else {
      throw ServiceError(.missing, "No such link")
    }
    erase(link)
  }

  /// Withdraws all links to a list.
  mutating func eraseLinks(to list: AccountID) throws {
    for link in try ListLink.all(of: list, in: view) { erase(link) }
  }

  private mutating func erase(_ link: ListLink) {
    write(LocalEdit(ListKeys.link(link.hash), nil))
    write(LocalEdit(ListKeys.link(link.id, to: link.list), nil))
  }
}
