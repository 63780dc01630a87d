import Documents
package import IPAddresses
import Stores

extension AccountService {
  /// Logs somebody in.
  /// - Parameter guestToken: the token of a guest whose bookmarks join the account's, exactly once.
  /// - Throws: `badCredentials`, `lockedOut`, `tooMany`, `hashingBusy`; for the guest's token
  ///   `invalidToken`, `expiredToken`, `guestSpent`.
  package func logIn(
    username: String, password: Secret, guestToken: String?, from address: ClientAddress
  ) async throws -> Session {
    var guest: AccountID?
    if let guestToken { guest = try await self.guest(provedBy: guestToken) }
    let user = try await verified(username, password, from: address)
    if user.kind == .user {
      if let guest { try await adopt(guest, into: user) }
      // What an earlier failure left to be done must not keep anybody from logging in.
      for left in user.adopting where left != guest {
        try? await carry(left, into: user.id, user.name)
      }
    }
    return try tokens.issue(user.kind, user.id, name: user.name.text, epoch: user.epoch, at: now())
  }

  /// Who a name and a password are, for HTTP's Basic scheme (RFC 7617). A password that was right is
  /// believed for a minute.
  /// - Throws: `badCredentials`, `lockedOut`, `tooMany`, `hashingBusy`.
  package func authenticate(
    username: String, password: Secret, from address: ClientAddress
  ) async throws -> Principal {
    guard let (_, key, _) = proof(username, password) else { throw ServiceError.badCredentials }
    if let principal = proofs.principal(.password, key, at: now()) { return principal }
    let moment = proofs.moment
    let principal = try await verified(username, password, from: address).principal
    let end = now().adding(seconds: AccountSettings.basicLifetime)
    proofs.remember(
      .password, key, ProofCache.Proof(principal: principal, goodUntil: end), since: moment)
    return principal
  }

  private func proof(
    _ username: String, _ password: Secret
  ) -> (name: UserName, key: ProofKey, password: [UInt8])? {
    guard PasswordRule.bytes.contains(password.byteCount), let name = try? UserName(username) else {
      return nil
    }
    let bytes = PasswordRule.normalized(password)
    return (name, ProofKey(name: name, password: bytes, under: passwordKey), bytes)
  }

  func verified(
    _ username: String, _ password: Secret, from address: ClientAddress
  ) async throws -> VerifiedUser {
    guard let (name, key, bytes) = proof(username, password) else {
      throw ServiceError.badCredentials
    }
    let shared = SharedVerifications.Key(proof: key, address: address)
    return try await verifications.user(of: shared) { [self] in
      try await verify(name, bytes, from: address)
    }
  }

  private func verify(
    _ name: UserName, _ password: [UInt8], from address: ClientAddress
  ) async throws -> VerifiedUser {
    // However wide its letters are written, attempts at one name are counted together.
    let attempt = Lockouts.Key(name: name.widthMapped ?? name, address: address)
    try lockouts.begin(attempt, at: uptime())
    let user: VerifiedUser?
    do {
      try passwordRate.take(address, at: uptime())
      user = try await match(name, password)
    } catch {
      lockouts.end(attempt, .unknown, at: uptime())
      throw error
    }
    lockouts.end(attempt, user == nil ? .wrong : .right, at: uptime())
    guard let user else { throw ServiceError.badCredentials }
    return user
  }

  /// Whose name and password these are; one hash is computed whoever it is, and whether there is anybody
  /// or not.
  private func match(
    _ name: UserName, _ password: [UInt8]
  ) async throws -> VerifiedUser? {
    if let administrator = settings.administrator, administrator.name == name {
      guard try await hashing.verify(password, against: administrator.password) else { return nil }
      return VerifiedUser(
        kind: .administrator, id: administrator.id, name: administrator.name,
        epoch: administratorEpoch, adopting: [])
    }
    let known = try await accounts.knownUser(name)
    let stored = known?.credentials.password
    guard try await hashing.verify(password, against: stored), let known, let stored else {
      return nil
    }
    if hashing.isOutdated(stored), let hash = try? await hashing.hash(password) {
      // The old hash is as right as the new one: failing to replace it is nobody's failure.
      try? await accounts.rehash(known.name ?? name, known, hash)
    }
    return VerifiedUser(
      kind: .user, id: known.document.id, name: known.name ?? name,
      epoch: known.document.epoch, adopting: known.document.adopting)
  }
}

extension AccountService {
  /// Gives somebody the password that they choose; every other session of theirs ends.
  /// - Parameter current: the password until now, which proves that nobody else holds the session.
  /// - Returns: a new token of the same session; nil where a password is the request's own proof.
  /// - Throws: `noPassword` for who has none here; `invalidPassword`, `badCredentials`, `lockedOut`, `tooMany`,
  ///   `hashingBusy`; the store's errors.
  package func changePassword(
    of person: Principal, from current: Secret, to password: Secret, at address: ClientAddress
  ) async throws -> IssuedToken? {
    guard person.kind == .user, let username = person.username,
      !username.utf8.starts(with: UserName.issuedPrefix.utf8)
    else { throw ServiceError(.noPassword, Self.whyThereIsNoPassword(of: person)) }
    try PasswordRule.check(password)
    let user = try await verified(username, current, from: address)
    guard user.id == person.id else { throw ServiceError.badCredentials }
    let changed = try await change(user.name, password, inEpoch: user.epoch)
    guard let changed else { throw ServiceError.badCredentials }
    guard let session = person.tokenID else { return nil }
    return try tokens.issue(
      .user, changed.id, name: username, epoch: changed.epoch, session: session, at: now()
    ).token
  }

  /// A token with which a user chooses another password, once and within a day, for the command line: who handed it
  /// over answers for who it was given to.
  /// - Throws: `invalidName`, `unknownUser`.
  package func passwordReset(for username: String) async throws -> IssuedToken {
    let name = try UserName(username)
    guard let known = try await accounts.knownUser(name) else {
      throw ServiceError(.unknownUser, "There is no user of this name.")
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
  ) async throws {
    let person = try tokens.verify(token, for: .passwordReset, at: now()).principal
    guard let name = person.username.flatMap({ try? UserName($0) }),
      let known = try await accounts.user(name), known.document.id == person.id,
      known.document.epoch == person.epoch
    else { throw ServiceError.invalidToken("used") }
    try PasswordRule.check(password)
    try passwordRate.take(address, at: uptime())
    guard try await change(name, password, inEpoch: person.epoch) != nil else {
      throw ServiceError.invalidToken("used")
    }
  }

  private func change(
    _ name: UserName, _ password: Secret, inEpoch epoch: Int
  ) async throws -> UserDocument? {
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
