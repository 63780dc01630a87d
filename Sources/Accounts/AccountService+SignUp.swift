import Documents
package import Stores

extension AccountService {
  /// Makes a user and logs them in.
  /// - Parameter guest: who asks, where a token proved it; a guest's bookmarks become the user's.
  /// - Throws: `invalidName`, `invalidPassword`, `taken`, `guestSpent`, `tooMany`, `hashingBusy`.
  package func signUp(
    username: String, password: Secret, guest: Principal?, from address: ClientAddress
  ) async throws(AccountError) -> Session {
    let name = try UserName(ofNewcomer: username)
    try PasswordRule.check(password)
    try passwordRate.take(address, at: uptime())
    let adopted = guest.flatMap { $0.kind == .guest ? $0.id : nil }
    let user = try await create(name, password, adopting: adopted)
    // The claim is stored with the account: what fails here is done at the next log-in.
    if let adopted { try? await carry(adopted, into: user.id, name) }
    return try tokens.issue(.user, user.id, name: name.text, epoch: user.epoch, at: now())
  }

  /// Makes a user, for the command line.
  /// - Throws: `invalidName`, `invalidPassword`, `taken`, `hashingBusy`.
  package func addUser(
    username: String, password: Secret
  ) async throws(AccountError) -> AccountID {
    let name = try UserName(ofNewcomer: username)
    try PasswordRule.check(password)
    return try await create(name, password, adopting: nil).id
  }

  /// Gives a user another password, for the command line; every session of theirs ends.
  /// - Throws: `invalidName`, `invalidPassword`, `unknownUser`, `hashingBusy`.
  package func changePassword(
    username: String, password: Secret
  ) async throws(AccountError) {
    let name = try UserName(username)
    try PasswordRule.check(password)
    let hash = try await hashing.hash(PasswordRule.normalized(password))
    guard let user = try await accounts.changePassword(name, hash) else {
      throw AccountError(.unknownUser, "There is no user of this name.")
    }
    proofs.end { $0.id == user.id }
  }

  /// The account of a name, for a list's members; nil when nobody has it.
  /// - Throws: the store's errors.
  package func accountID(
    ofUser username: String
  ) async throws(AccountError) -> AccountID? {
    guard let name = try? UserName(username) else { return nil }
    return try await accounts.user(name)?.document.id
  }

  private func create(
    _ name: UserName, _ password: Secret, adopting guest: AccountID?
  ) async throws(AccountError) -> UserDocument {
    // Looking first spares the hash; the transaction decides.
    guard settings.administrator?.isTaken(for: name) != true, try await accounts.user(name) == nil
    else {
      throw .taken
    }
    let hash = try await hashing.hash(PasswordRule.normalized(password))
    let user = newUser(adopting: guest.map { [$0] } ?? [])
    switch try await accounts.create(name, user, password: hash) {
    case .created: return user
    case .taken: throw .taken
    case .guestSpent: throw .guestSpent
    }
  }
}
