package import Accounts
package import Documents
package import Stores

/// An invitation of a user to a list by name. The membership begins when the user accepts it. With the role
/// ``ListRole/owner`` it is the offer of a list to a member; a list has one at most.
///
/// The system store has two local documents for it, until it expires: `invited/<account>/<list>`,
/// `{"id","inviter","role","title","createdAt","isHidden"?}`, which the user reads, and `invited-to/<list>/<account>`,
/// `{"id","name","role","createdAt"}`, which the list's owner reads. It costs the user nothing else: neither a request
/// nor a feed reads the list. A user who has blocked the inviter has a hidden one, so that the owner does not learn it.
package struct PersonalInvitation: Sendable, Equatable {
  /// The invitation's id. It stays the same if the role is changed.
  package fileprivate(set) var id: AccountID
  package let list: AccountID
  package let account: AccountID
  /// The owner who made it.
  package let inviter: AccountID
  /// The user's name.
  package let username: String
  /// The role of the user who accepts it.
  package let role: ListRole
  /// The beginning of the list's title at that time, at most ``ListLimits/invitationTitleBytes`` bytes.
  package let title: String
  package let createdAt: Timestamp
  /// Whether the user has blocked the inviter.
  fileprivate(set) var isHidden = false

  package var expiresAt: Timestamp {
    createdAt.adding(seconds: ListLimits.longestInvitationSeconds)
  }

  init(
    of account: AccountID, _ username: String, to list: AccountID, title: String,
    as role: ListRole, by inviter: AccountID, at now: Timestamp
  ) {
    id = .random()
    (self.account, self.username, self.list, self.role) = (account, username, list, role)
    (self.inviter, createdAt) = (inviter, now)
    self.title = Self.beginning(of: title)
  }

  /// Reads the user's record. It does not have the user's name.
  private init?(_ note: LocalDocument, of account: AccountID, to list: AccountID) throws {
    let root = try ListDirectory.root(of: note)
    guard let id = root["id"]?.string.flatMap(AccountID.init),
      let inviter = root["inviter"]?.string.flatMap(AccountID.init),
      let role = root["role"]?.string.flatMap(ListRole.init)
    else { return nil }
    (self.id, self.inviter, self.role, self.account, self.list) = (id, inviter, role, account, list)
    username = ""
    title = root["title"]?.string ?? ""
    createdAt = ListDirectory.time("createdAt", in: root)
    isHidden = root["isHidden"]?.bool ?? false
  }

  /// As much of a text as an invitation shows, in whole scalars.
  static func beginning(of title: String) -> String {
    var (beginning, bytes) = ("", 0)
    for scalar in title.unicodeScalars {
      bytes += String(scalar).utf8.count
      guard bytes <= ListLimits.invitationTitleBytes else { break }
      beginning.unicodeScalars.append(scalar)
    }
    return beginning
  }

  /// All invitations of an account, hidden ones included.
  fileprivate static func all(
    of account: AccountID, in view: any StoreView
  ) throws -> [PersonalInvitation] {
    try view.localValues(ListKeys.range(ListKeys.invited(account))) { id, note in
      try ListKeys.last(of: id).flatMap { try PersonalInvitation(note, of: account, to: $0) }
    }
  }

  /// The invitations that an account sees, newest first.
  static func shown(to account: AccountID, in view: any StoreView) throws -> [PersonalInvitation] {
    try all(of: account, in: view).filter { !$0.isHidden }.sorted { $0.createdAt > $1.createdAt }
  }

  /// The first accounts that are invited to a list by name.
  static func accounts(
    invitedTo list: AccountID, atMost limit: Int, in view: any StoreView
  ) throws -> [AccountID] {
    try view.localIDs(ListKeys.range(ListKeys.invited(to: list)), atMost: limit, ListKeys.last)
  }

  fileprivate var usersValue: JSONValue {
    var object: JSONObject = [
      "id": .string(id.text), "inviter": .string(inviter.text), "role": .string(role.rawValue),
      "title": .string(title), "createdAt": .time(createdAt),
    ]
    if isHidden { object.append("isHidden", true) }
    return .object(object)
  }

  /// The owner's record.
  fileprivate var ownersValue: JSONValue {
    [
      "id": .string(id.text), "name": .string(username), "role": .string(role.rawValue),
      "createdAt": .time(createdAt),
    ]
  }
}

/// An invitation as the invited user sees it.
package struct ReceivedInvitation: Sendable {
  /// The id with which the user answers it: of the invitation, or of the list without an owner.
  package let id: AccountID
  package let list: AccountID
  /// The beginning of the list's title; see ``PersonalInvitation/title``.
  package let title: String
  /// The name of the member who made it; nil for a list without an owner.
  package let inviter: PersonName?
  /// The role of the user who accepts it.
  package let role: ListRole
  package let createdAt: Timestamp
  package let expiresAt: Timestamp

  init(_ invitation: PersonalInvitation, by inviter: PersonName) {
    (id, list, title) = (invitation.id, invitation.list, invitation.title)
    (self.inviter, role) = (inviter, invitation.role)
    (createdAt, expiresAt) = (invitation.createdAt, invitation.expiresAt)
  }

  /// The offer of a list without an owner.
  init(_ list: OwnerlessList) {
    (id, self.list, title, inviter, role) = (list.list, list.list, list.title, nil, .owner)
    createdAt = list.endsAt.adding(seconds: -ListLimits.ownerlessSeconds)
    expiresAt = list.endsAt
  }
}

/// An invitation by name as the list's owner sees it.
package struct InvitedUser: Sendable {
  package let id: AccountID
  let account: AccountID
  package let username: String
  /// The role of the user who accepts it.
  package let role: ListRole
  package let createdAt: Timestamp
  package var expiresAt: Timestamp {
    createdAt.adding(seconds: ListLimits.longestInvitationSeconds)
  }

  private init?(_ key: LocalID, _ note: LocalDocument) throws {
    let root = try ListDirectory.root(of: note)
    guard let account = ListKeys.last(of: key),
      let id = root["id"]?.string.flatMap(AccountID.init),
      let role = root["role"]?.string.flatMap(ListRole.init)
    else { return nil }
    (self.id, self.account, self.role) = (id, account, role)
    username = root["name"]?.string ?? ""
    createdAt = ListDirectory.time("createdAt", in: root)
  }

  /// The users who are invited to a list, in the order of their ids.
  static func all(of list: AccountID, in system: DocumentStore) async throws -> [InvitedUser] {
    let range = ListKeys.range(ListKeys.invited(to: list))
    return try await system.localValues(range) { id, note, _ in try InvitedUser(id, note) }
  }

  /// The invitation of one user.
  static func of(
    _ account: AccountID, to list: AccountID, in view: any StoreView
  ) throws -> InvitedUser? {
    let key = ListKeys.invitation(of: account, to: list)
    return try view.local(key).flatMap { try InvitedUser(key, $0) }
  }
}

/// The rules for invitations by name, within an update of the system store.
extension StoreChanges {
  /// Stores an invitation in the place of a former one to the same list. Beyond ``ListLimits/openToAccount``, one of the
  /// user's goes: the oldest of the inviter who has made most.
  /// - Returns: the invitation as it is stored.
  /// - Throws: `absent` for an absent list; `quotaExceeded` for a full list; `missing` for an account that was just
  ///   deleted.
  mutating func invite(_ new: PersonalInvitation) throws -> PersonalInvitation {
    let list = new.list
    guard try ListDirectory.head(of: list, in: view) != nil else { throw ServiceError.absent }
    guard try hasUser(new.account, named: new.username) else { throw ServiceError.noUser }
    if try view.local(ListKeys.invitation(of: new.account, to: list)) == nil {
      let count = try [ListKeys.members(of: list), ListKeys.invited(to: list)].reduce(0) {
        try $0 + view.localUsage(of: LocalID.receiptPrefix + $1).count
      }
      guard count < ListLimits.members else { throw ServiceError.listIsFull }
    }
    return try put(new)
  }

  /// Stores the offer of a list to a member in the place of a former one.
  /// - Returns: the offer as it is stored.
  /// - Throws: `missing` for an account that is not a member.
  mutating func offer(_ new: PersonalInvitation) throws -> PersonalInvitation {
    guard try role(of: new.account, in: new.list) != nil else { throw ServiceError.noMember }
    try eraseOffer(of: new.list, except: new.account)
    return try put(new)
  }

  /// Removes the offer of a list, if there is one.
  mutating func eraseOffer(of list: AccountID, except kept: AccountID? = nil) throws {
    guard let account = try offered(list), account != kept else { return }
    try eraseInvitation(of: account, to: list)
  }

  /// The account that is offered a list by its owner. It is noted, because a list may have invited a thousand.
  private func offered(_ list: AccountID) throws -> AccountID? {
    try unlessDamaged {
      try local(ListKeys.offer(of: list)).flatMap { note in
        try ListDirectory.root(of: note)["account"]?.string.flatMap(AccountID.init)
      }
    } ?? nil
  }

  /// Records an invitation for both sides.
  private mutating func put(_ new: PersonalInvitation) throws -> PersonalInvitation {
    var invitation = new
    let (account, list) = (new.account, new.list)
    invitation.isHidden = try view.local(ListKeys.block(of: new.inviter, by: account)) != nil
    let others = try PersonalInvitation.all(of: account, in: view)
    if let known = others.first(where: { $0.list == list }) {
      invitation.id = known.id
    } else {
      try removeOldest(
        of: others.filter { $0.isHidden == invitation.isHidden },
        keeping: ListLimits.openToAccount - 1, besidesOneOf: new.inviter)
    }
    note(ListKeys.invited(account, to: list), invitation.usersValue, expires: invitation.expiresAt)
    note(
      ListKeys.invitation(of: account, to: list), invitation.ownersValue,
      expires: invitation.expiresAt)
    let offer = ListKeys.offer(of: list)
    if invitation.role == .owner {
      note(offer, ["account": .string(account.text)], expires: invitation.expiresAt)
    } else if try offered(list) == account {
      write(LocalEdit(offer, nil))
    }
    return invitation
  }

  /// An open invitation that an account sees.
  /// - Throws: `missing`.
  func invitation(_ id: AccountID, of account: AccountID) throws -> PersonalInvitation {
    let shown = try PersonalInvitation.shown(to: account, in: view)
    guard let invitation = shown.first(where: { $0.id == id }) else {
      throw ServiceError.noInvitation
    }
    return invitation
  }

  /// Accepts an invitation by name, or the offer of a list.
  /// - Parameter limit: the bytes of all lists of one owner.
  /// - Returns: the list.
  /// - Throws: `missing` for an invitation that is not open; `invitationGone` if its inviter has left the list;
  ///   `quotaExceeded`, also when the account has no room for a list that it is offered.
  mutating func accept(
    invitation id: AccountID, by account: AccountID, _ username: String, at now: Timestamp,
    within limit: Int64
  ) throws -> AccountID {
    if try role(of: account, in: id) != nil {
      try takeOver(id, by: account, within: limit)
      return id
    }
    let invitation = try invitation(id, of: account)
    let (list, inviter) = (invitation.list, invitation.inviter)
    guard try role(of: inviter, in: list) != nil else { throw ServiceError.invitationGone }
    if invitation.role == .owner {
      try handOn(list, from: inviter, to: account, within: limit)
    } else {
      _ = try putMember(account, username, role: invitation.role, on: list, at: now)
    }
    return list
  }

  /// Hides the invitations of an inviter from an account, or shows them. Of too many, the oldest go of whoever made most.
  mutating func setInvitations(
    of inviter: AccountID, to account: AccountID, hidden isHidden: Bool
  ) throws {
    var all = try PersonalInvitation.all(of: account, in: view)
    for index in all.indices where all[index].inviter == inviter {
      all[index].isHidden = isHidden
      note(
        ListKeys.invited(account, to: all[index].list), all[index].usersValue,
        expires: all[index].expiresAt)
    }
    try removeOldest(of: all.filter { $0.isHidden == isHidden }, keeping: ListLimits.openToAccount)
  }

  /// Removes the oldest of an account's invitations, first of the inviter who has made most of them: nobody's many
  /// invitations take the place of another's.
  /// - Parameter newest: the inviter of a new invitation, which is not among them.
  private mutating func removeOldest(
    of invitations: [PersonalInvitation], keeping count: Int, besidesOneOf newest: AccountID? = nil
  ) throws {
    var rest = invitations.sorted { $0.createdAt < $1.createdAt }
    while rest.count > count {
      var made = rest.reduce(into: [:]) { $0[$1.inviter, default: 0] += 1 }
      if let newest { made[newest, default: 0] += 1 }
      let most = made.values.max()
      guard let index = rest.firstIndex(where: { made[$0.inviter] == most }) else { return }
      let old = rest.remove(at: index)
      try eraseInvitation(of: old.account, to: old.list)
    }
  }

  /// Removes the invitation of an account to a list, if there is one.
  mutating func eraseInvitation(of account: AccountID, to list: AccountID) throws {
    if try offered(list) == account { write(LocalEdit(ListKeys.offer(of: list), nil)) }
    write(LocalEdit(ListKeys.invited(account, to: list), nil))
    write(LocalEdit(ListKeys.invitation(of: account, to: list), nil))
  }

  /// Removes all invitations of an account by name, and whom it has blocked.
  mutating func eraseInvitations(of account: AccountID) throws {
    for invitation in try PersonalInvitation.all(of: account, in: view) {
      try eraseInvitation(of: account, to: invitation.list)
    }
    try eraseAll(ListKeys.blocked(by: account))
  }
}

extension ServiceError {
  /// The answer to an invitation that is not open.
  static let noInvitation = ServiceError(.missing, "No such invitation")
}
