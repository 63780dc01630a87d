package import Accounts
import Documents
package import Stores

/// The people whose invitations by name an account does not see.
extension ListService {
  /// Hides an invitation and all further ones of the same inviter from the account. The inviter does not learn it.
  /// - Throws: `missing` for an invitation that is not open; `quotaExceeded` for too many blocked inviters.
  package func block(
    _ invitation: AccountID, by account: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    try await stores.update(.system, as: context, answer: answer) { changes in
      let invitation = try changes.invitation(invitation, of: account)
      let prefix = LocalID.receiptPrefix + ListKeys.blocked(by: account)
      guard try changes.view.localUsage(of: prefix).count < ListLimits.blockedInviters else {
        throw ServiceError(
          .quotaExceeded, "At most \(ListLimits.blockedInviters) people can be blocked")
      }
      let (inviter, view) = (invitation.inviter, changes.view)
      guard let member = try ListDirectory.member(inviter, of: invitation.list, in: view),
        let user = try UserReference.to(inviter, named: member.username, in: view)
      else { throw ServiceError.noInvitation }
      changes.note(ListKeys.block(of: inviter, by: account), ["user": .string(user.text)])
      try changes.setInvitations(of: inviter, to: account, hidden: true)
    }
  }

  /// Shows the invitations of a blocked inviter again, also those that were made meanwhile and are open.
  /// - Throws: `missing` for a name that is not blocked.
  package func unblock(
    _ username: String, by account: AccountID, as context: WriteContext,
    answer: Answering<Void>? = nil
  ) async throws {
    guard let inviter = try await accounts.accountID(ofUser: username) else {
      throw ServiceError.notBlocked
    }
    try await stores.update(.system, as: context, answer: answer) { changes in
      let block = ListKeys.block(of: inviter, by: account)
      guard try changes.view.local(block) != nil else { throw ServiceError.notBlocked }
      changes.write(LocalEdit(block, nil))
      try changes.setInvitations(of: inviter, to: account, hidden: false)
    }
  }

  /// The names of the blocked inviters, in the order of the user names' bytes. Erased accounts are left out.
  package func blockedInviters(of account: AccountID) async throws -> [PersonName] {
    let names = try await directory.stores.withStore(.system, creating: false) { store in
      try await store?.localValues(ListKeys.range(ListKeys.blocked(by: account))) {
        id, note, view -> PersonName? in
        guard let inviter = ListKeys.last(of: id),
          let user = try ListDirectory.root(of: note)["user"]?.string,
          let name = try UserReference(stored: user).username(of: inviter, in: view)
        else { return nil }
        return try PersonName(name, of: inviter, in: view)
      }
    }
    return (names ?? []).sorted { $0.username.precedesBytes(of: $1.username) }
  }
}

extension ServiceError {
  fileprivate static let notBlocked = ServiceError(.missing, "No blocked user has this name")
}
