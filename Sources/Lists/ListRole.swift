package import Accounts
package import Documents
import JSON
package import Stores

/// What somebody is to a list.
package enum ListRole: String, Sendable, CaseIterable {
  /// Has made the list, or was handed it: may do everything, and alone says who the members are.
  case owner
  /// Changes what is on the list, its title and its description.
  case editor
  /// Reads.
  case reader

  /// Whether one may change bookmarks, notes, the title and the description.
  package var mayWrite: Bool { self != .reader }
}

/// Somebody on a list, the owner included.
package struct ListMember: Sendable, Equatable {
  /// The account; it outlives a change of the name's spelling and names nobody.
  package let account: AccountID
  /// The name as signed up.
  package let username: String
  /// What they are to the list.
  package internal(set) var role: ListRole
  /// Since when they are on it.
  package let joinedAt: Timestamp

  /// Somebody, by their parts.
  package init(account: AccountID, username: String, role: ListRole, joinedAt: Timestamp) {
    self.account = account
    self.username = username
    self.role = role
    self.joinedAt = joinedAt
  }

  /// Whether a name is this member's, as ``UserName`` compares.
  package func isNamed(_ name: UserName) -> Bool { (try? UserName(given: username)) == name }
}

/// What the system store has of a list itself.
package struct ListHead: Sendable, Equatable {
  /// How often the members have changed; counts up.
  package let version: Int
  /// When the list was made.
  package let createdAt: Timestamp
}

/// Who is on a list: the owner first, then the others by when they joined.
package struct ListMembers: Sendable, Equatable {
  /// What stands of the list itself.
  package let head: ListHead
  /// All of them.
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

  /// The owner; nil only where what is stored is damaged.
  package var owner: ListMember? { all.first { $0.role == .owner } }
  /// All but the owner.
  package var others: [ListMember] { all.filter { $0.role != .owner } }

  /// Who owns the list after its owner: the member who has been there the longest, editors first.
  var heir: ListMember? { others.first { $0.role == .editor } ?? others.first }

  /// One of them by account.
  package func member(_ account: AccountID) -> ListMember? {
    all.first { $0.account == account }
  }

  /// One of them by name.
  package func member(named name: UserName) -> ListMember? {
    all.first { $0.isNamed(name) }
  }
}

/// The limits of lists, as `GET /v1/limits` shows them.
package enum ListLimits {
  /// Lists that one account is on, its own included.
  package static let perAccount = 250
  /// Members of a list, the owner included.
  package static let members = 1_000
  /// Invitations of a list that are open at once.
  package static let openInvitations = 100
  /// Drafts of one member on a list.
  package static let drafts = 200
  /// Bytes of the drafts of one member on a list: 4 MiB. They are read together, and laid over the list.
  package static let draftBytes = 4 << 20
  /// Bytes of texts after which a page of notes ends: 1 MiB.
  package static let pageBytes = 1 << 20
  /// Lists or notes of one answer.
  package static let page = 50
  /// Bytes of a list's or a note's title.
  package static let titleBytes = 256
  /// Bytes of a list's description or of a note, in markdown: 256 KiB.
  package static let markdownBytes = 256 << 10
  /// Seconds that an invitation is open when nobody says how long: seven days.
  package static let invitationSeconds: Int64 = 7 * 86_400
  /// Seconds that an invitation may be open: thirty days.
  package static let longestInvitationSeconds: Int64 = 30 * 86_400
}
