import Documents
import Stores

/// The ends of sessions in the system store.
extension AccountStore {
  /// Ends a session, durably.
  /// - Parameter forgottenAt: when none of its tokens can be valid any more.
  func revoke(_ session: String, forgottenAt end: Timestamp) async throws {
    try await stores.update(.system, as: .server) { changes in
      let note = LocalDocument(revision: 1, body: Array("{}".utf8))
      changes.freesSpace = true
      changes.write(LocalEdit(AccountKeys.revoked(session), note, expires: end))
    }
  }

  /// Ends every session of a user, durably, by incrementing the epoch. Does nothing for an account that was erased.
  func endSessions(of name: UserName, id: AccountID) async throws {
    let userID = AccountKeys.user(name)
    try await stores.update(.system, loading: [userID], as: .server) { changes in
      guard var user = try UserDocument(changes.view.document(userID)), user.id == id
      else { return }
      user.epoch += 1
      changes.freesSpace = true
      try changes.replace(userID, by: user.value)
    }
  }

  /// How often the administrator has ended all sessions.
  func sessionEnds(ofAdministrator id: AccountID) async throws -> Int {
    try await read(orAbsent: 0) { view in
      Int(try view.local(AccountKeys.sessionEnds(id))?.revision ?? 0)
    }
  }

  /// Ends every session of the administrator, durably.
  func endSessions(ofAdministrator id: AccountID) async throws {
    try await stores.update(.system, as: .server) { changes in
      let revision = try changes.local(AccountKeys.sessionEnds(id))?.revision ?? 0
      let next = LocalDocument(revision: revision &+ 1, body: Array("{}".utf8))
      changes.freesSpace = true
      changes.write(LocalEdit(AccountKeys.sessionEnds(id), next))
    }
  }
}

extension AccountKeys {
  /// The record of how often an administrator has ended all sessions: its revision.
  static func sessionEnds(_ administrator: AccountID) -> LocalID {
    LocalID(receipt: "session-ends:" + administrator.text)
  }
}
