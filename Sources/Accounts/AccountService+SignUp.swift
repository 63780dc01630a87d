import Documents
package import IPAddresses
package import Stores

extension AccountService {
  /// Makes a user and logs them in.
  /// - Parameter guest: who asks, where a token proved it; a guest's bookmarks become the user's.
  /// - Throws: `invalidName`, `invalidPassword`, `taken`, `guestSpent`, `tooMany`, `hashingBusy`.
  package func signUp(
    username: String, password: Secret, guest: Principal?, from address: ClientAddress
  ) async throws -> Session {
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
  ) async throws -> AccountID {
    let name = try UserName(ofNewcomer: username)
    try PasswordRule.check(password)
    return try await create(name, password, adopting: nil).id
  }

  /// Gives a user another password, for the command line; every session of theirs ends.
  /// - Throws: `invalidName`, `invalidPassword`, `unknownUser`, `hashingBusy`.
  package func changePassword(
    username: String, password: Secret
  ) async throws {
    let name = try UserName(username)
    try PasswordRule.check(password)
    let hash = try await hashing.hash(PasswordRule.normalized(password))
    guard let user = try await accounts.changePassword(name, hash) else {
      throw ServiceError(.unknownUser, "There is no user of this name.")
    }
    proofs.end { $0.id == user.id }
  }

  /// The account of a name, for a list's members; nil when nobody has it.
  /// - Throws: the store's errors.
  package func accountID(
    ofUser username: String
  ) async throws -> AccountID? {
    guard let name = try? UserName(username) else { return nil }
    return try await accounts.user(name)?.document.id
  }

  private func create(
    _ name: UserName, _ password: Secret, adopting guest: AccountID?
  ) async throws -> UserDocument {
    // Looking first spares the hash; the transaction decides.
    guard settings.administrator?.isTaken(for: name) != true, try await accounts.user(name) == nil
    else {
      throw ServiceError.taken
    }
    let hash = try await hashing.hash(PasswordRule.normalized(password))
    let user = newUser(adopting: guest.map { [$0] } ?? [])
    switch try await accounts.create(name, user, password: hash) {
    case .created: return user
    case .taken: throw ServiceError.taken
    case .guestSpent: throw ServiceError.guestSpent
    }
  }
}

extension AccountService {
  /// Who a bearer token proves. A token that was verified lately costs one hash and one look-up; the first
  /// time also a signature and two or three reads of the system store.
  /// - Throws: `invalidToken`, `expiredToken`, `guestSpent`; the store's errors.
  package func authenticate(
    bearer token: String
  ) async throws -> Principal {
    guard token.utf8.count <= CompactToken.maximumBytes else {
      throw ServiceError.invalidToken("too long")
    }
    let key = ProofKey(token: token)
    if let principal = proofs.principal(.token, key, at: now()) { return principal }
    let moment = proofs.moment
    let verified = try tokens.verify(token, at: now())
    switch try await standing(of: verified.principal) {
    case .good: break
    case .spent: throw ServiceError.guestSpent
    case .ended: throw ServiceError.invalidToken("ended")
    }
    proofs.remember(
      .token, key,
      ProofCache.Proof(principal: verified.principal, goodUntil: verified.goodUntil), since: moment)
    return verified.principal
  }

  /// Whether a principal proved earlier still is one, for what lives longer than a request: a feed asks
  /// every second. Reads the store only after something was logged out or erased.
  /// - Throws: the store's errors.
  package func isStillGood(_ principal: Principal) async throws -> Bool {
    let now = now()
    if let end = principal.expiresAt, end.adding(seconds: settings.skew) <= now { return false }
    if let key = principal.keyID, !tokens.isGood(key, at: now) { return false }
    if proofs.wasLookedUp(principal) { return true }
    let moment = proofs.moment
    guard case .good = try await standing(of: principal) else { return false }
    proofs.lookedUp(principal, since: moment)
    return true
  }

  /// A token that goes on with the same session, when a day or more of the present one is gone; nil when
  /// it is too early, or when a password was the proof. To be asked of a principal that was authenticated
  /// for this request. That a guest was here is noted first: what is not noted is not renewed.
  package func renewed(_ principal: Principal) async -> IssuedToken? {
    guard let session = principal.tokenID, let end = principal.expiresAt else { return nil }
    let now = now()
    let issued = end.adding(seconds: -tokens.lifetime(of: principal.kind))
    guard issued.adding(seconds: settings.renewalAge) <= now else { return nil }
    do {
      if principal.kind == .guest { try await accounts.noteUse(of: principal.id, at: now) }
      return try tokens.issue(
        principal.kind, principal.id, name: principal.username, epoch: principal.epoch,
        session: session, at: now
      ).token
    } catch {
      return nil
    }
  }

  /// Ends a session: its token and every renewal of it, durably and in this process at once. Nothing to
  /// do where a password was the proof.
  /// - Throws: the store's errors.
  package func logOut(_ principal: Principal) async throws {
    guard let session = principal.tokenID else { return }
    // The last renewal may have been made just now; the skew counts once on either side.
    let longest = tokens.lifetime(of: principal.kind) + 2 * settings.skew
    try await accounts.revoke(session, forgottenAt: now().adding(seconds: longest))
    proofs.end { $0.tokenID == session }
  }

  private func standing(
    of principal: Principal
  ) async throws -> AccountStore.Standing {
    if principal.kind == .administrator {
      guard principal.id == settings.administrator?.id, principal.epoch == administratorEpoch else {
        return .ended
      }
    }
    return try await accounts.standing(of: principal)
  }
}
