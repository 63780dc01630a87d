import Documents
package import IPAddresses
import Scheduling
import Stores

/// Verifying names and passwords.
extension AccountService {
  /// Authenticates a name and a password, for HTTP's Basic scheme (RFC 7617). A verified password is accepted again
  /// for one minute without hashing.
  /// - Throws: `badCredentials`, `lockedOut`, `tooMany`, `hashingBusy`.
  package func authenticate(
    username: String, password: Secret, from address: ClientAddress
  ) async throws -> Principal {
    guard let (_, key, _) = proof(username, password) else { throw ServiceError.badCredentials }
    if let principal = proofs.principal(.password, key, at: now()) { return principal }
    let moment = proofs.moment
    if let known = proofs.uncheckedPassword(key, at: now()),
      case .good = try await standing(of: known.principal)
    {
      // A changed password has changed the account's epoch.
      proofs.remember(.password, key, known, since: moment)
      return known.principal
    }
    let user = try await verify(username, password, from: address)
    if !user.isProven {
      audit.note(AuditEvent(.signedIn, of: user.id, about: "basic"), from: address)
    }
    let end = now().adding(seconds: AccountSettings.basicLifetime)
    // The verification may have begun before this request, which has joined it.
    proofs.remember(
      .password, key, ProofCache.Proof(principal: user.principal, goodUntil: end),
      since: user.moment)
    return user.principal
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

  func verify(
    _ username: String, _ password: Secret, from address: ClientAddress
  ) async throws -> VerifiedUser {
    guard let (name, key, bytes) = proof(username, password) else {
      throw ServiceError.badCredentials
    }
    return try await verifications.run(SharedVerification(proof: key, address: address)) {
      do { return .success(try await self.verify(name, bytes, from: address)) } catch {
        return .failure(error)
      }
    }.value.get()
  }

  /// What an attempt is counted by. All spellings of a name are the same.
  private func counted(
    _ name: UserName, _ password: [UInt8], from address: ClientAddress
  ) -> (pair: Lockouts.Key, digest: ProofKey) {
    let name = name.usualSpelling
    return (
      Lockouts.Key(name: name, address: address),
      ProofKey(name: name, password: password, under: passwordKey)
    )
  }

  /// Notes that a password was just set from an address. There it is compared even while its name is locked.
  func noteSet(_ password: Secret, of name: UserName, from address: ClientAddress) {
    let (pair, digest) = counted(name, PasswordRule.normalized(password), from: address)
    lockouts.prove(pair, digest, at: uptime())
  }

  private func verify(
    _ name: UserName, _ password: [UInt8], from address: ClientAddress
  ) async throws -> VerifiedUser {
    let (pair, digest) = counted(name, password, from: address)
    let isKnownWrong = try await lockouts.isKnownWrong(pair, digest) {
      try await candidate(name).mark
    }
    guard !isKnownWrong else { throw ServiceError.badCredentials }
    let attempt = try lockouts.begin(pair, digest, at: uptime())
    let found: Candidate
    let user: VerifiedUser?
    do {
      try (attempt.isProven ? provenRate : passwordRate).take(address, at: uptime())
      let moment = proofs.moment
      found = try await candidate(name)
      user = try await match(name, password, found, since: moment)
    } catch {
      lockouts.end(attempt, .unknown, at: uptime())
      throw error
    }
    let locks = lockouts.end(
      attempt, user == nil ? .wrong(against: found.mark) : .right, at: uptime())
    guard var user else {
      audit.note(AuditEvent(.signInFailed, of: found.id), from: address)
      if locks { audit.note(AuditEvent(.locked, of: found.id), from: address) }
      throw ServiceError.badCredentials
    }
    user.isProven = attempt.isProven
    return user
  }

  /// Who may log in by a name.
  private enum Candidate {
    case administrator(Administrator, epoch: Int)
    case user(KnownUser)
    case unknown

    var id: AccountID? {
      switch self {
      case .administrator(let administrator, _): administrator.id
      case .user(let known): known.document.id
      case .unknown: nil
      }
    }

    /// Tells one stored password from the next one; 0 for an unknown name.
    var mark: UInt64 {
      switch self {
      case .administrator(let administrator, _): administrator.password.mark
      case .user(let known): known.credentials.password.mark
      case .unknown: 0
      }
    }
  }

  private func candidate(_ name: UserName) async throws -> Candidate {
    if case (let administrator?, let epoch) = administrator.present,
      [name, name.usualSpelling].contains(administrator.name)
    {
      return .administrator(administrator, epoch: epoch)
    }
    return try await accounts.user(name.usualSpelling).map { .user($0) } ?? .unknown
  }

  /// The user of a name and a password; nil when they are wrong. Exactly one hash is computed in every case, also
  /// for an unknown name.
  /// - Parameter moment: a moment before the candidate was read.
  private func match(
    _ name: UserName, _ password: [UInt8], _ candidate: Candidate, since moment: ProofCache.Moment
  ) async throws -> VerifiedUser? {
    let known: KnownUser
    switch candidate {
    case .administrator(let administrator, let epoch):
      guard try await hashing.verify(password, against: administrator.password) else { return nil }
      let ends = try await accounts.sessionEnds(ofAdministrator: administrator.id)
      return VerifiedUser(
        kind: .administrator, id: administrator.id, name: administrator.name, epoch: epoch &+ ends,
        adopting: [], moment: moment)
    case .user(let user): known = user
    case .unknown:
      _ = try await hashing.verify(password, against: nil)
      return nil
    }
    guard try await hashing.verify(password, against: known.credentials.password) else {
      return nil
    }
    return VerifiedUser(
      kind: .user, id: known.document.id, name: known.name ?? name,
      epoch: known.document.epoch, adopting: known.document.adopting, moment: moment)
  }
}
