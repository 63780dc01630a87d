import Documents
import Stores

extension AccountService {
  /// Gives somebody the password that they choose; every other session of theirs ends.
  /// - Parameter current: the password until now, which proves that nobody else holds the session.
  /// - Returns: a new token of the same session; nil where a password is the request's own proof.
  /// - Throws: `noPassword` for who has none here; `invalidPassword`, `badCredentials`, `lockedOut`, `tooMany`,
  ///   `hashingBusy`; the store's errors.
  package func changePassword(
    of person: Principal, from current: Secret, to password: Secret, at address: ClientAddress
  ) async throws(AccountError) -> IssuedToken? {
    guard person.kind == .user, let username = person.username,
      !username.utf8.starts(with: UserName.issuedPrefix.utf8)
    else { throw AccountError(.noPassword, Self.whyThereIsNoPassword(of: person)) }
    try PasswordRule.check(password)
    let user = try await verified(username, current, from: address)
    guard user.id == person.id else { throw .badCredentials }
    let changed = try await change(user.name, password, inEpoch: user.epoch)
    guard let changed else { throw .badCredentials }
    guard let session = person.tokenID else { return nil }
    return try tokens.issue(
      .user, changed.id, name: username, epoch: changed.epoch, session: session, at: now()
    ).token
  }

  /// A token with which a user chooses another password, once and within a day, for the command line: who handed it
  /// over answers for who it was given to.
  /// - Throws: `invalidName`, `unknownUser`.
  package func passwordReset(for username: String) async throws(AccountError) -> IssuedToken {
    let name = try UserName(username)
    guard let known = try await accounts.knownUser(name) else {
      throw AccountError(.unknownUser, "There is no user of this name.")
    }
    return try tokens.issue(
      .user, known.document.id, name: (known.name ?? name).text, epoch: known.document.epoch,
      for: .passwordReset,
      at: now()
    ).token
  }

  /// Gives the user of such a token another password; every session of theirs ends, and with it every such token.
  /// - Throws: `invalidToken`, `expiredToken`, `invalidPassword`, `tooMany`, `hashingBusy`; the store's errors.
  package func resetPassword(
    with token: String, to password: Secret, at address: ClientAddress
  ) async throws(AccountError) {
    let person = try tokens.verify(token, for: .passwordReset, at: now()).principal
    guard let name = person.username.flatMap({ try? UserName($0) }),
      let known = try await accounts.user(name), known.document.id == person.id,
      known.document.epoch == person.epoch
    else { throw .invalidToken("used") }
    try PasswordRule.check(password)
    try passwordRate.take(address, at: uptime())
    guard try await change(name, password, inEpoch: person.epoch) != nil else {
      throw .invalidToken("used")
    }
  }

  private func change(
    _ name: UserName, _ password: Secret, inEpoch epoch: Int
  ) async throws(AccountError) -> UserDocument? {
    let hash = try await hashing.hash(PasswordRule.normalized(password))
    guard let user = try await accounts.changePassword(name, hash, inEpoch: epoch) else {
      return nil
    }
    proofs.end { $0.id == user.id }
    return user
  }

  private static func whyThereIsNoPassword(of person: Principal) -> String {
    switch person.kind {
    case .guest: "A guest has no password: sign up first."
    case .administrator: "The administrator's password is changed where the server is started."
    case .user: "This account has no password here: its owner logs in elsewhere."
    }
  }
}
