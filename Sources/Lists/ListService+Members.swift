import Accounts
package import Documents
import JSON
package import Stores

/// Changing the members of a list. Each update checks again who the owner is, because the ownership may have been
/// transferred in between.
extension ListService {
  /// Adds a user to a list, or changes a member's role.
  /// - Throws: `absent`; `forbidden` for anybody but the owner, and for a change of the owner's role; `missing` for
  ///   an unknown user name; `quotaExceeded`.
  package func putMember(
    _ username: String, role: ListRole, on list: AccountID, by owner: AccountID
  ) async throws {
    try await requireOwner(owner, of: list)
    let (account, name) = try await account(named: username, on: list)
    let now = now()
    let isChanged = try await directory.update { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      return try changes.putMember(account, name, role: role, on: list, at: now)
    }
    if isChanged { await tryToShow(list) }
  }

  /// Removes a member from a list. The owner may remove any other member, and every other member themselves.
  /// - Throws: `absent`; `forbidden` when another member tries it, and for the owner, who can't be removed;
  ///   `missing` for a name that is not on the list.
  package func removeMember(
    _ username: String, from list: AccountID, by account: AccountID
  ) async throws {
    let role = try await requireMember(account, of: list)
    let member = try await member(named: username, on: list)
    guard role == .owner || member?.account == account else { throw ServiceError.ownersOnly }
    guard let member else { throw ServiceError.noMember }
    try await directory.update { changes in
      let present = try changes.role(of: account, in: list)
      guard present == .owner || present != nil && member.account == account else {
        throw ServiceError.absent
      }
      try changes.removeMember(member.account, from: list)
    }
    memberships.changed([member.account])
    await tryToRemoveDrafts(on: list, of: member.account)
    await tryToShow(list)
  }

  /// Transfers a list to one of its members. The former owner becomes an editor.
  /// - Parameter condition: checked in the update that writes.
  /// - Throws: `absent`; `forbidden` for anybody but the owner; `missing` for a name that is not on the list; what
  ///   the condition throws.
  package func handOn(
    _ list: AccountID, to username: String, by owner: AccountID, condition: Condition? = nil
  ) async throws {
    try await requireOwner(owner, of: list)
    guard let member = try await member(named: username, on: list) else {
      throw ServiceError.noMember
    }
    try await handOn(list, to: member.account, by: owner, condition: condition)
  }

  func handOn(
    _ list: AccountID, to member: AccountID, by owner: AccountID, condition: Condition? = nil
  ) async throws {
    let revision: RevisionID? = if condition == nil { nil } else { try await revision(of: list) }
    try await directory.update { changes in
      if let condition, let revision,
        let head = try ListDirectory.head(of: list, in: changes.view)
      {
        try condition(ListTag(revision: revision, version: head.version))
      }
      try changes.handOn(list, from: owner, to: member)
    }
    await tryToShow(list)
  }

  /// Creates an invitation. The token is returned only here.
  /// - Parameter expiresAt: nil for ``ListLimits/invitationSeconds`` from now.
  /// - Throws: `absent`; `forbidden` for anybody but the owner; `invalidDocument` for the role `owner` and for a
  ///   time that is not allowed; `quotaExceeded`.
  package func invite(
    to list: AccountID, as role: ListRole, until expiresAt: Timestamp?, by owner: AccountID
  ) async throws -> IssuedInvitation {
    try await requireOwner(owner, of: list)
    let now = now()
    let end = expiresAt ?? now.adding(seconds: ListLimits.invitationSeconds)
    guard role != .owner else {
      throw ServiceError(.invalidDocument, "role must be editor or reader")
    }
    guard now < end, end <= now.adding(seconds: ListLimits.longestInvitationSeconds) else {
      throw ServiceError(
        .invalidDocument,
        "expiresAt must be a time within \(ListLimits.longestInvitationSeconds / 86_400) days")
    }
    var generator = SystemRandomNumberGenerator()
    let token =
      Hex.string(generator.next(), generator.next())
      + Hex.string(generator.next(), generator.next())
    let invitation = Invitation(
      to: list, as: role, token: token, at: now, expiresAt: end, using: &generator)
    return try await directory.update { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      try changes.invite(invitation, at: now)
      return IssuedInvitation(invitation: invitation, token: token)
    }
  }

  /// The open invitations to a list, in the order of their ids.
  /// - Throws: `absent`; `forbidden` for anybody but the owner.
  package func invitations(
    to list: AccountID, for owner: AccountID
  ) async throws -> [Invitation] {
    try await requireOwner(owner, of: list)
    let now = now()
    return try await directory.read(orAbsent: []) { view in
      try Invitation.all(of: list, in: view).filter { $0.isOpen(at: now) }
    }
  }

  /// Withdraws an open invitation.
  /// - Throws: `absent`; `forbidden` for anybody but the owner; `missing` for an invitation that is not open.
  package func withdraw(
    _ invitation: AccountID, to list: AccountID, by owner: AccountID
  ) async throws {
    try await requireOwner(owner, of: list)
    let now = now()
    try await directory.update { changes in
      try changes.withdraw(invitation, to: list, at: now)
    }
  }

  /// Adds an account to the list of an invitation; see ``StoreChanges/accept(token:by:_:at:)``.
  /// - Throws: `missing` for an unknown token; `invitationGone`; `quotaExceeded`.
  package func accept(
    _ token: String, by account: AccountID, _ username: String
  ) async throws -> SharedList {
    let now = now()
    let list = try await directory.update { changes in
      try changes.accept(token: token, by: account, username, at: now)
    }
    await tryToShow(list)
    return try await self.list(list, for: account)
  }

  /// The members have changed, whether the list's store shows it now or later.
  func tryToShow(_ list: AccountID) async {
    do { try await show(list) } catch { return }
  }

  /// The account of a member, or of a user who is to become one.
  private func account(
    named username: String, on list: AccountID
  ) async throws -> (id: AccountID, name: String) {
    if let member = try await member(named: username, on: list) {
      return (member.account, member.username)
    }
    guard let account = try await accounts.accountID(ofUser: username) else {
      throw ServiceError.noUser
    }
    return (account, try UserName(given: username).text)
  }

  /// The member with a name. It looks for the account of that name first. When that account is not a member, as
  /// with some names from earlier versions, it compares the names of all members.
  private func member(named username: String, on list: AccountID) async throws -> ListMember? {
    let name = try UserName(given: username)
    if let account = try await accounts.accountID(ofUser: username),
      let member = try await directory.member(account, of: list)
    {
      return member
    }
    return try await directory.members(of: list)?.member(named: name)
  }
}
