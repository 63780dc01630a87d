import Documents
import Stores

extension AccountService {
  /// Logs somebody in.
  /// - Parameter guestToken: the token of a guest whose bookmarks join the account's, exactly once.
  /// - Throws: `badCredentials`, `lockedOut`, `tooMany`, `hashingBusy`; for the guest's token
  ///   `invalidToken`, `expiredToken`, `guestSpent`.
  package func logIn(
    username: String, password: Secret, guestToken: String?, from address: ClientAddress
  ) async throws(AccountError) -> Session {
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
  ) async throws(AccountError) -> Principal {
    guard let (_, key, _) = proof(username, password) else { throw .badCredentials }
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
  ) async throws(AccountError) -> VerifiedUser {
    guard let (name, key, bytes) = proof(username, password) else { throw .badCredentials }
    let shared = SharedVerifications.Key(proof: key, address: address)
    return try await verifications.outcome(of: shared) { [self] in
      do throws(AccountError) {
        return .success(try await verify(name, bytes, from: address))
      } catch {
        return .failure(error)
      }
    }.get()
  }

  private func verify(
    _ name: UserName, _ password: [UInt8], from address: ClientAddress
  ) async throws(AccountError) -> VerifiedUser {
    // However wide its letters are written, attempts at one name are counted together.
    let attempt = Lockouts.Key(name: name.widthMapped ?? name, address: address)
    try lockouts.begin(attempt, at: uptime())
    let user: VerifiedUser?
    do throws(AccountError) {
      try passwordRate.take(address, at: uptime())
      user = try await match(name, password)
    } catch {
      lockouts.end(attempt, .unknown, at: uptime())
      throw error
    }
    lockouts.end(attempt, user == nil ? .wrong : .right, at: uptime())
    guard let user else { throw .badCredentials }
    return user
  }

  /// Whose name and password these are; one hash is computed whoever it is, and whether there is anybody
  /// or not.
  private func match(
    _ name: UserName, _ password: [UInt8]
  ) async throws(AccountError) -> VerifiedUser? {
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
