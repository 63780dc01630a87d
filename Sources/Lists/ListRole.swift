package import Accounts
package import Documents
package import Stores

package enum ListRole: String, Sendable, CaseIterable {
  /// The account that created the list or received it from its former owner. It may do everything. Only the owner
  /// changes the members.
  case owner
  /// May change bookmarks, notes, the title and the description.
  case editor
  /// May only read.
  case reader

  /// Whether the role may change bookmarks, notes, the title and the description.
  package var mayWrite: Bool { self != .reader }
}

/// A member of a list; the owner is one too.
package struct ListMember: Sendable, Equatable {
  /// The account's id. It does not reveal the name.
  package let account: AccountID
  package let name: PersonName
  package internal(set) var role: ListRole
  package let joinedAt: Timestamp

  package init(account: AccountID, name: PersonName, role: ListRole, joinedAt: Timestamp) {
    self.account = account
    self.name = name
    self.role = role
    self.joinedAt = joinedAt
  }

  /// The user name, spelt as at the sign-up.
  package var username: String { name.username }
}

/// The system store's record of a list.
package struct ListHead: Sendable, Equatable {
  /// How often the members have changed. It only grows.
  package let version: Int
  package let createdAt: Timestamp
  /// When a list without an owner ends; nil for a list with one.
  var endsAt: Timestamp?
}

/// The members of a list: the owner first, then the others in the order in which they joined.
package struct ListMembers: Sendable, Equatable {
  package let head: ListHead
  package let all: [ListMember]

  /// The members of a list.
  /// - Parameter all: in any order.
  init(_ head: ListHead, all: [ListMember]) {
    self.head = head
    self.all = all.sorted { one, other in
      if (one.role == .owner) != (other.role == .owner) { return one.role == .owner }
      if one.joinedAt != other.joinedAt { return one.joinedAt < other.joinedAt }
      return one.account.text.precedesBytes(of: other.account.text)
    }
  }

  /// The members with another one, or with another role of one. A former owner becomes an editor.
  func with(_ member: ListMember) -> ListMembers {
    let others = all.filter { $0.account != member.account }.map { other in
      var other = other
      if member.role == .owner, other.role == .owner { other.role = .editor }
      return other
    }
    return ListMembers(head, all: others + [member])
  }

  /// The owner; nil while the list has none; see ``OwnerlessList``.
  package var owner: ListMember? { all.first { $0.role == .owner } }
  /// All but the owner.
  package var others: [ListMember] { all.filter { $0.role != .owner } }

  /// What distinguishes the display names in an entity-tag; empty when no member has one.
  var displayNamesTag: String {
    let names = all.compactMap { member in
      member.name.displayName.map { member.account.text + $0 }
    }
    return names.isEmpty ? "" : "+" + Hex.digest(of: names.joined(separator: "\n"), digits: 16)
  }

  package func member(_ account: AccountID) -> ListMember? { all.first { $0.account == account } }
}
