package import Documents
package import Stores

/// Inviting people to a list: by a link, or by name.
extension ListService {
  /// Creates an invitation. The token is returned only here.
  /// - Parameter expiresAt: nil for ``ListLimits/invitationSeconds`` from now.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; `invalidDocument` for the role `owner` and for a
  ///   time that is not allowed; `quotaExceeded`.
  package func invite(
    to list: AccountID, as role: ListRole, until expiresAt: Timestamp?, by owner: AccountID,
    as context: WriteContext, answer: Answering<IssuedInvitation>? = nil
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
    let token = Hex.random() + Hex.random()
    let invitation = Invitation(to: list, as: role, token: token, at: now, expiresAt: end)
    return try await stores.update(.system, as: context, answer: answer) { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      try changes.invite(invitation, at: now)
      return (invitation, token)
    }
  }

  /// The open invitations to a list: links in the order of their ids, and users in the order of theirs.
  /// - Throws: `absent`; `forbidden` for everyone but the owner.
  package func invitations(
    to list: AccountID, for owner: AccountID
  ) async throws -> (links: [Invitation], users: [InvitedUser]) {
    try await requireOwner(owner, of: list)
    let now = now()
    return try await stores.withExisting(.system) { system in
      let links = try await system.read { view in try Invitation.all(of: list, in: view) }
      let users = try await InvitedUser.all(of: list, in: system)
      return (links.filter { $0.isOpen(at: now) }, users.filter { now < $0.expiresAt })
    }
  }

  /// Withdraws an open invitation, by link or by name.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; `missing` for an invitation that is not open.
  package func withdraw(
    _ invitation: AccountID, to list: AccountID, by owner: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    try await requireOwner(owner, of: list)
    let now = now()
    let user = try await stores.withExisting(.system) { system in
      try await InvitedUser.all(of: list, in: system).first { $0.id == invitation }
    }
    try await stores.update(.system, as: context, answer: answer) { changes in
      guard try changes.role(of: owner, in: list) == .owner else { throw ServiceError.absent }
      changes.freesSpace = true
      if let user, try InvitedUser.of(user.account, to: list, in: changes.view)?.id == invitation {
        return try changes.eraseInvitation(of: user.account, to: list)
      }
      try changes.withdraw(invitation, to: list, at: now)
    }
  }

  /// Adds an account to the list of an invitation; see ``StoreChanges/accept(token:by:_:at:)``.
  /// - Parameter token: the token of a link, or the id of the account's own invitation.
  /// - Parameter answer: makes the answer from the list as it was read just before, and with the account's new role.
  /// - Throws: `missing` for an unknown token; `invitationGone`; `quotaExceeded`.
  package func accept(
    _ token: String, by account: AccountID, _ username: String, as context: WriteContext,
    answer: Answering<SharedList>? = nil
  ) async throws -> SharedList {
    let (now, invitation) = (now(), AccountID(token))
    let known = try await list(invitedBy: token, for: account)
    let whole = answer.map { answer -> Answering<(id: AccountID, member: ListMember?)> in
      { accepted in
        known.flatMap { known in
          guard known.id == accepted.id, let member = accepted.member else { return nil }
          return answer(known.with(member))
        }
      }
    }
    let list = try await stores.update(.system, as: context, answer: whole) {
      [ownedBytes] changes in
      let list =
        if let invitation {
          try changes.accept(
            invitation: invitation, by: account, username, at: now, within: ownedBytes)
        } else {
          try changes.accept(token: token, by: account, username, at: now)
        }
      return (id: list, member: try changes.member(account, of: list))
    }
    if let role = list.member?.role { noteRole(role, of: account, on: list.id, by: account) }
    try? await show(list.id)
    return try await self.list(list.id, for: account)
  }

  /// The list of an invitation before an account accepts it; nil if there is none.
  private func list(invitedBy token: String, for account: AccountID) async throws -> SharedList? {
    let list = try await directory.read(orAbsent: nil) { view -> AccountID? in
      guard let id = AccountID(token) else {
        return try Invitation.stored(token: token, in: view)?.list
      }
      if try ListDirectory.role(of: account, in: id, view) != nil { return id }
      return try PersonalInvitation.shown(to: account, in: view).first { $0.id == id }?.list
    }
    guard let list, let members = try await directory.members(of: list) else { return nil }
    // A list that can't be read can be accepted nevertheless.
    guard let document = try? await document(of: list) else { return nil }
    return SharedList(list, document, members, role: .reader)
  }

  /// The lists without an owner that an account is offered, and its open invitations by name, newest first.
  package func invitations(of account: AccountID) async throws -> [ReceivedInvitation] {
    let now = now()
    return try await directory.read(orAbsent: []) { view in
      let offers = try OwnerlessList.offered(to: account, in: view).filter { now < $0.endsAt }
      let invitations = try PersonalInvitation.shown(to: account, in: view)
      return try offers.map { ReceivedInvitation($0) }
        + invitations.compactMap { invitation in
          guard now < invitation.expiresAt else { return nil }
          return try ListDirectory.member(invitation.inviter, of: invitation.list, in: view).map {
            ReceivedInvitation(invitation, by: $0.name)
          }
        }
    }
  }

  /// Ends an invitation by name that the account does not want.
  /// - Throws: `missing` for an invitation that is not open.
  package func decline(
    _ invitation: AccountID, by account: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    try await stores.update(.system, as: context, answer: answer) { changes in
      if try changes.role(of: account, in: invitation) != nil {
        return try changes.declineOwnerless(invitation, by: account)
      }
      let known = try changes.invitation(invitation, of: account)
      try changes.eraseInvitation(of: account, to: known.list)
    }
  }
}
