package import Accounts
package import Documents
import JSON
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

  package func member(_ account: AccountID) -> ListMember? {
    all.first { $0.account == account }
  }
}

/// The limits of lists. `GET /v1/limits` shows them.
package enum ListLimits {
  /// The most lists that one account has made and is on. A list that was handed on to it does not count here.
  package static let owned = 100
  /// The most lists that one account has joined.
  package static let joined = 200
  /// The most lists of which one account is a member.
  package static let perAccount = owned + joined
  /// The most bytes of all lists of one owner, unless an operator sets another number: 1 GiB.
  package static let ownedBytes: Int64 = 1 << 30
  /// The most members of a list, the owner included.
  package static let members = 1_000
  /// The most open invitations of a list.
  package static let openInvitations = 100
  /// The most open invitations of one account by name. Beyond, the oldest go.
  package static let openToAccount = 50
  /// The most accounts whose invitations one account does not see.
  package static let blockedInviters = 1_000
  /// The most bytes of a list's title that an invitation by name shows.
  package static let invitationTitleBytes = 64
  /// The most drafts of one member on a list.
  package static let drafts = 200
  /// The most bytes of one member's drafts on a list: 4 MiB. They are read together.
  package static let draftBytes = 4 << 20
  /// A page of notes ends once it has this many bytes: 1 MiB.
  package static let pageBytes = 1 << 20
  /// A page of lists ends once their titles, descriptions and members have this many bytes: 512 KiB.
  package static let listPageBytes = 512 << 10
  /// How many bytes a member counts for on a page of lists. To read a member takes as long as to read a text of this length.
  package static let memberPageBytes = 1 << 10
  /// The most lists or notes in one answer.
  package static let page = 50
  /// The most bytes of a list's or a note's title.
  package static let titleBytes = 256
  /// The most bytes of a list's description or of a note, in markdown: 256 KiB.
  package static let markdownBytes = 256 << 10
  /// How long an invitation is open when the owner does not say, in seconds: 7 days.
  package static let invitationSeconds: Int64 = 7 * 86_400
  /// How long a list stays without an owner, in seconds: 30 days.
  static let ownerlessSeconds: Int64 = 30 * 86_400
  /// How long it is known that an account was on a list, in seconds: 90 days.
  static let leftSeconds: Int64 = 90 * 86_400
  /// The longest time that an invitation may be open, in seconds: 30 days.
  package static let longestInvitationSeconds: Int64 = 30 * 86_400
}
