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
      try changes.blockInviter(of: invitation, by: account)
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
      try changes.unblock(inviter, by: account)
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

/// The rules for blocking, within an update of the system store.
extension StoreChanges {
  /// Hides all invitations of an inviter from an account.
  /// - Throws: `missing` for an invitation that is not open; `quotaExceeded`.
  fileprivate mutating func blockInviter(of id: AccountID, by account: AccountID) throws {
    let invitation = try invitation(id, of: account)
    let prefix = LocalID.receiptPrefix + ListKeys.blocked(by: account)
    guard try view.localUsage(of: prefix).count < ListLimits.blockedInviters else {
      throw ServiceError(
        .quotaExceeded, "At most \(ListLimits.blockedInviters) people can be blocked")
    }
    guard
      let member = try ListDirectory.member(invitation.inviter, of: invitation.list, in: view),
      let user = try UserReference.to(invitation.inviter, named: member.username, in: view)
    else { throw ServiceError.noInvitation }
    let block = ListKeys.block(of: invitation.inviter, by: account)
    note(block, ["user": .string(user.text)])
    try setInvitations(of: invitation.inviter, to: account, hidden: true)
  }

  /// Shows the invitations of an inviter to an account again.
  /// - Throws: `missing` for an account that is not blocked.
  fileprivate mutating func unblock(_ inviter: AccountID, by account: AccountID) throws {
    let block = ListKeys.block(of: inviter, by: account)
    guard try view.local(block) != nil else { throw ServiceError.notBlocked }
    write(LocalEdit(block, nil))
    try setInvitations(of: inviter, to: account, hidden: false)
  }
}

extension ServiceError {
  fileprivate static let notBlocked = ServiceError(.missing, "No blocked user has this name")
}
