import Accounts
package import Stores

/// Changing the members of a list. Each update checks again who the owner is, because the ownership may have been
/// transferred in between.
extension ListService {
  /// Changes a member's role, or invites a user who is not a member. A membership begins when the user accepts.
  /// - Returns: the invitation; nil for a member.
  /// - Throws: `absent`; `forbidden` for everyone but the owner, and for a change of the owner's role; `missing` for
  ///   an unknown user name; `quotaExceeded`.
  @discardableResult
  package func putMember(
    _ username: String, role: ListRole, on list: AccountID, by owner: AccountID,
    as context: WriteContext, answer: Answering<PersonalInvitation?>? = nil
  ) async throws -> PersonalInvitation? {
    try await requireOwner(owner, of: list)
    let (account, name) = try await account(named: username, on: list)
    let title = try await document(of: list).title
    let invitation = PersonalInvitation(
      of: account, name, to: list, title: title, as: role, by: owner, at: now())
    let invited = try await stores.update(.system, as: context, answer: answer) {
      changes -> PersonalInvitation? in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      guard try changes.role(of: account, in: list) == nil else {
        _ = try changes.putMember(account, name, role: role, on: list, at: invitation.createdAt)
        return nil
      }
      return try changes.invite(invitation)
    }
    if invited == nil {
      noteRole(role, of: account, on: list, by: owner)
      try? await show(list)
    }
    return invited
  }

  /// Removes a member from a list, or takes back the invitation of a user who has not accepted it. The owner may remove
  /// any other member, and every other member themselves.
  /// - Throws: `absent`; `forbidden` when another member tries it, and for the owner, who can't be removed;
  ///   `missing` for a name that is not on the list.
  package func removeMember(
    _ username: String, from list: AccountID, by account: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    let role = try await requireMember(account, of: list)
    let member = try await member(named: username, on: list)
    guard role == .owner || member?.account == account else { throw ServiceError.ownersOnly }
    guard let member else {
      return try await withdraw(username, from: list, by: account, as: context, answer: answer)
    }
    let now = now()
    try await stores.update(.system, as: context, answer: answer) { changes in
      let present = try changes.role(of: account, in: list)
      guard present == .owner || present != nil && member.account == account else {
        throw ServiceError.absent
      }
      try changes.removeMember(member.account, from: list, at: now)
    }
    accounts.audit.note(
      AuditEvent(.memberRemoved, of: member.account, by: .user(account), list: list))
    tell([member.account])
    try? await removeDrafts(on: list, of: member.account, as: context)
  }

  /// Records in the audit log that an account has another role.
  /// - Parameter author: who gave it.
  func noteRole(_ role: ListRole, of account: AccountID, on list: AccountID, by author: AccountID) {
    accounts.audit.note(
      AuditEvent(.roleChanged, of: account, by: .user(author), list: list, about: role.rawValue))
  }

  /// Takes back the invitation of a user by name.
  private func withdraw(
    _ username: String, from list: AccountID, by owner: AccountID, as context: WriteContext,
    answer: Answering<Void>?
  ) async throws {
    guard let account = try await accounts.accountID(ofUser: username) else {
      throw ServiceError.noMember
    }
    try await stores.update(.system, as: context, answer: answer) { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      guard try changes.view.local(ListKeys.invitation(of: account, to: list)) != nil else {
        throw ServiceError.noMember
      }
      changes.freesSpace = true
      try changes.eraseInvitation(of: account, to: list)
    }
  }

  /// Offers a list to one of its members, in the place of a former offer. The member who accepts it is the owner.
  /// - Parameter condition: checked in the update that writes.
  /// - Returns: nil when the name is the owner's.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; `missing` for a name that is not on the list; what
  ///   the condition throws.
  package func offer(
    _ list: AccountID, to username: String, by owner: AccountID, condition: Condition? = nil,
    as context: WriteContext, answer: Answering<PersonalInvitation?>? = nil
  ) async throws -> PersonalInvitation? {
    let member = try await requireOfferable(list, to: username, by: owner)
    let document = try await document(of: list)
    let offer = PersonalInvitation(
      of: member.account, member.username, to: list, title: document.title, as: .owner, by: owner,
      at: now())
    return try await stores.update(.system, as: context, answer: answer) { changes in
      guard let head = try ListDirectory.head(of: list, in: changes.view),
        try changes.role(of: owner, in: list) == .owner
      else { throw ServiceError.absent }
      try condition?(ListTag(revision: document.revision, version: head.version))
      return member.account == owner ? nil : try changes.offer(offer)
    }
  }

  /// The member to whom the owner may offer a list.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; `missing` for a name that is not on the list.
  @discardableResult
  package func requireOfferable(
    _ list: AccountID, to username: String, by owner: AccountID
  ) async throws -> ListMember {
    try await requireOwner(owner, of: list)
    guard let member = try await member(named: username, on: list) else {
      throw ServiceError.noMember
    }
    return member
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

  /// The member with a name.
  private func member(named username: String, on list: AccountID) async throws -> ListMember? {
    guard let account = try await accounts.accountID(ofUser: username) else { return nil }
    return try await directory.member(account, of: list)
  }
}
