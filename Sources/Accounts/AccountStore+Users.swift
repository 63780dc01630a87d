import Documents
import Stores

extension AccountStore {
  /// How making an account went.
  enum Creation: Sendable {
    case created, taken
    /// The guest who was to become this user has become another.
    case guestSpent
  }

  /// Makes an account, with the claim on a guest where there is one: all of it or nothing. Of several who
  /// ask for one name at once, the first commit wins.
  func create(
    _ name: UserName, _ document: UserDocument, password: PasswordHash
  ) async throws(AccountError) -> Creation {
    let (id, local) = (AccountKeys.user(name), AccountKeys.credentials(name))
    let ids = Set([id] + document.adopting.map(AccountKeys.guest))
    return try await update(ids) { (view, limit) throws(StoreError) in
      if try UserDocument(view.document(id)) != nil { return Decision(value: .taken) }
      if try view.local(AccountKeys.formerName(name)) != nil { return Decision(value: .taken) }
      var mutations = [try Self.put(id, document.value, in: view, limit: limit)]
      for guest in document.adopting {
        let claim = AccountKeys.guest(guest)
        guard try view.document(claim) == nil else { return Decision(value: .guestSpent) }
        let value = Self.claim(by: document.id)
        mutations.append(try Self.put(claim, value, in: view, limit: limit))
      }
      let revision = try view.local(local)?.revision ?? 0
      let credentials = Credentials(name: name.text, password: password)
      return Decision(
        mutations, locals: [LocalEdit(local, credentials.document(after: revision))],
        value: .created)
    }
  }

  /// Puts the same password under a new hash, unless the credentials have changed since they were read.
  func rehash(
    _ name: UserName, _ known: KnownUser, _ password: PasswordHash
  ) async throws(AccountError) {
    let local = AccountKeys.credentials(name)
    try await update([AccountKeys.user(name)]) { (view, _) throws(StoreError) in
      guard try view.local(local)?.revision == known.revision else { return Decision(value: ()) }
      let credentials = Credentials(name: known.credentials.name, password: password)
      return Decision(
        locals: [LocalEdit(local, credentials.document(after: known.revision))], value: ())
    }
  }

  /// Gives a user another password and a new epoch, which ends every session.
  /// - Parameter epoch: the one that the user must be in, where that matters: of several who change a password at
  ///   once, the first commit wins.
  /// - Returns: the account as it is now; nil when there is none of that name, or it is in another epoch.
  func changePassword(
    _ name: UserName, _ password: PasswordHash, inEpoch epoch: Int? = nil
  ) async throws(AccountError) -> UserDocument? {
    let (id, local) = (AccountKeys.user(name), AccountKeys.credentials(name))
    return try await update([id]) { (view, limit) throws(StoreError) in
      guard var user = try UserDocument(view.document(id)), let stored = try view.local(local)
      else { return Decision(value: nil) }
      guard epoch == nil || user.epoch == epoch else { return Decision(value: nil) }
      user.epoch += 1
      let credentials = Credentials(name: try Credentials(stored).name, password: password)
      return Decision(
        [try Self.put(id, user.value, in: view, limit: limit)],
        locals: [LocalEdit(local, credentials.document(after: stored.revision))], value: user)
    }
  }
}
