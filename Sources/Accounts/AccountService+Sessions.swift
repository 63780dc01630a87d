package import Documents
package import Stores
import Synchronization

extension AccountService {
  /// Authenticates a bearer token. A token that was recently verified costs one hash and one look-up. The first
  /// time also costs a signature and two or three reads of the system store.
  /// - Throws: `invalidToken`, `expiredToken`, `guestSpent`; the store's errors.
  package func authenticate(bearer token: String) async throws -> Principal {
    guard token.utf8.count <= CompactToken.maximumBytes else {
      throw ServiceError.invalidToken("too long")
    }
    let key = ProofKey(token: token)
    if let principal = proofs.principal(.token, key, at: now()) { return principal }
    let moment = proofs.moment
    let verified = try await verify(token: token)
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

  /// Verifies a token. Its key may be one that another process has just made.
  /// - Throws: `invalidToken`, `expiredToken`.
  func verify(
    token: String, for purpose: TokenSigner.Purpose = .session
  ) async throws -> TokenSigner.Verified {
    if let compact = try? CompactToken(token) { await keys.search(for: compact.key, at: now()) }
    return try tokens.verify(token, for: purpose, at: now())
  }

  /// When the proof of a principal ends by itself; nil for a password's.
  package func end(of principal: Principal) -> Timestamp? {
    principal.expiresAt?.adding(seconds: settings.skew)
  }

  /// Whether a principal that was authenticated earlier is still valid. For work that lives longer than a request.
  /// Reads the store only after a proof has ended, for example by a log-out or an erasure.
  /// - Parameter isExact: whether to ask the database if several servers use it. Otherwise what another server has done
  ///   within the last second may be unknown.
  /// - Throws: the store's errors.
  package func isStillValid(_ principal: Principal, isExact: Bool = false) async throws -> Bool {
    let now = now()
    if let end = end(of: principal), end <= now { return false }
    if let key = principal.keyID, !tokens.isGood(key, at: now) { return false }
    if !(isExact && settings.isShared), proofs.wasLookedUp(principal) { return true }
    let moment = proofs.moment
    guard case .good = try await standing(of: principal) else { return false }
    proofs.noteLookup(of: principal, since: moment)
    return true
  }

  /// A new token of the same session, when the present token is at least ``AccountSettings/renewalAge`` old; nil
  /// when it is younger, when the session can't be longer, when the principal was authenticated by a password, and after
  /// a failure. The caller must have authenticated the principal for this request. A guest's use is recorded first:
  /// without the record the token is not renewed. The use of a guest's token from the future is recorded at the token's
  /// own time, so that the store stays as long as the token is valid.
  package func renewed(_ principal: Principal) async -> IssuedToken? {
    let now = now()
    guard isDue(principal, at: now) else { return nil }
    do {
      if principal.kind == .guest {
        try await accounts.noteUse(of: principal.id, at: max(now, principal.issuedAt ?? now))
      }
      guard isOld(principal, at: now) else { return nil }
      return try tokens.issue(
        principal.kind, principal.id, name: principal.username, epoch: principal.epoch,
        continuing: principal, at: now
      ).token
    } catch { return nil }
  }

  /// Whether the next answer to a principal should carry a new token, or record a guest's use: the token is old or from the
  /// future, and neither was done for its session within ``AccountSettings/renewalAge``. So a client that does not take new
  /// tokens gets one a day.
  package func isRenewalDue(_ principal: Principal) -> Bool {
    let now = now()
    guard let session = principal.tokenID, isDue(principal, at: now) else { return false }
    return renewals.isDue(session, at: now, after: settings.renewalAge)
  }

  /// A new token for an answer, as ``renewed(_:)``, once for each time that ``isRenewalDue(_:)``. It is nil if the
  /// session has ended while the request was answered.
  package func renewedForAnswer(_ principal: Principal) async -> IssuedToken? {
    let now = now()
    guard let session = principal.tokenID, isDue(principal, at: now),
      renewals.isDue(session, at: now, after: settings.renewalAge, takes: true),
      (try? await isStillValid(principal, isExact: true)) ?? false
    else { return nil }
    return await renewed(principal)
  }

  /// Whether a token is old, or a guest's from the future.
  private func isDue(_ principal: Principal, at now: Timestamp) -> Bool {
    if isOld(principal, at: now) { return true }
    guard principal.kind == .guest, let issued = principal.issuedAt else { return false }
    return now.adding(seconds: GuestUse.noteAge) < issued
  }

  private func isOld(_ principal: Principal, at now: Timestamp) -> Bool {
    guard principal.tokenID != nil, let end = principal.expiresAt,
      let issued = principal.issuedAt, let start = principal.startedAt
    else { return false }
    return issued.adding(seconds: settings.renewalAge) <= now
      && end < tokens.end(of: principal.kind, startedAt: start, at: now)
  }

  /// Ends a session: its token and all renewals become invalid, durably and in this process at once. Does nothing
  /// when the principal was authenticated by a password.
  /// - Throws: the store's errors.
  package func logOut(_ principal: Principal) async throws {
    guard let session = principal.tokenID else { return }
    // The last renewal may come from as far ahead as tokens may, because the clock was set back.
    let longest = 2 * (tokens.lifetime(of: principal.kind) + settings.skew)
    try await accounts.revoke(session, forgottenAt: now().adding(seconds: longest))
    endProofs(of: principal.author, session: session)
    audit.note(AuditEvent(.signedOut, of: principal.id))
  }

  /// Ends every session of a principal, the present one too, durably and in this process at once. A password stays
  /// valid, and so does another issuer's log-in. A guest has one session.
  /// - Throws: the store's errors.
  package func endSessions(of principal: Principal) async throws {
    switch principal.kind {
    case .guest: return try await logOut(principal)
    case .administrator: try await accounts.endSessions(ofAdministrator: principal.id)
    case .user:
      let name = try UserName(given: principal.username ?? "")
      try await accounts.endSessions(of: name, id: principal.id)
    }
    endProofs(of: principal.author)
    audit.note(AuditEvent(.sessionsEnded, of: principal.id))
  }

  /// Ends every session of a user, for the operator.
  /// - Throws: `unknownUser`; the store's errors.
  package func endSessions(ofUser username: String) async throws {
    guard let name = try? UserName(username),
      let known = try await accounts.user(name.usualSpelling)
    else { throw ServiceError(.unknownUser, "There is no user of this name.") }
    try await accounts.endSessions(of: known.name ?? name, id: known.document.id)
    endProofs(of: .user(known.document.id))
    audit.note(AuditEvent(.sessionsEnded, of: known.document.id, by: .administrator))
  }

  /// Takes another password of the administrator. If it differs, the sessions with the old one end.
  /// - Parameter epoch: the epoch of the tokens (``SharedAdministrator``).
  package func replaceAdministrator(_ administrator: Administrator, epoch: Int) {
    guard self.administrator.replace(administrator, epoch: epoch) else { return }
    endProofs(of: .administrator)
    audit.note(AuditEvent(.passwordChanged, of: administrator.id, by: .administrator))
  }

  /// A token of a user, for what the server does on the user's behalf. It is shown to nobody.
  /// - Throws: `unknownUser` for an account that is gone; the store's errors.
  package func ownToken(of id: AccountID, named name: String) async throws -> String {
    guard let document = try await accounts.document(UserName(given: name)), document.id == id
    else { throw ServiceError(.unknownUser, "There is no such user any more.") }
    return try tokens.issue(.user, id, name: name, epoch: document.epoch, at: now()).token.token
      .exposed
  }

  /// The administrator as a caller, for what the server does on the administrator's behalf; nil where there is none.
  /// - Throws: the store's errors.
  package func presentAdministrator() async throws -> Principal? {
    let present = administrator.present
    guard let administrator = present.administrator else { return nil }
    let ends = try await accounts.sessionEnds(ofAdministrator: administrator.id)
    return Principal(
      kind: .administrator, id: administrator.id, username: administrator.name.text,
      store: .user(administrator.id), epoch: present.epoch &+ ends)
  }

  func standing(of principal: Principal) async throws -> AccountStore.Standing {
    if principal.kind == .administrator {
      let present = administrator.present
      guard principal.id == present.administrator?.id else { return .ended }
      let ends = try await accounts.sessionEnds(ofAdministrator: principal.id)
      guard principal.epoch == present.epoch &+ ends else { return .ended }
    }
    return try await accounts.standing(of: principal)
  }
}

/// The sessions that were given a new token with an answer, and when: those of late, as many as are tracked.
final class RecentRenewals: Sendable {
  private let moments = Mutex(BoundedLRU<String, Timestamp>(capacity: AccountSettings.cachedTokens))

  /// Whether a session was given none within so many seconds. After a step back of the clock it is due, too.
  /// - Parameter takes: whether to record that it is given one now.
  func isDue(
    _ session: String, at now: Timestamp, after seconds: Int64, takes: Bool = false
  ) -> Bool {
    moments.withLock { moments in
      if let last = moments[session], last <= now, now < last.adding(seconds: seconds) {
        return false
      }
      if takes { moments[session] = now }
      return true
    }
  }
}
