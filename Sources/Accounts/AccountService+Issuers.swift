import Crypto
import Documents
package import IPAddresses
import Stores

extension AccountService {
  /// Exchanges another issuer's ID token for a session of the service. Each ID token is accepted once. The issuer
  /// and its subject identify the user; a name or an e-mail address never does. A new user gets an account.
  /// - Parameter guestToken: the token of a guest whose bookmarks the account adopts, exactly once.
  /// - Parameter bearer: the token of the request itself; a guest's counts as `guestToken`.
  /// - Throws: `invalidToken` with the same message for every defect of the token, `tooMany`, `issuerUnavailable`; for
  ///   the guest's token also `guestSpent`. One that has expired or ended counts as none.
  package func exchange(
    idToken: Secret, guestToken: String?, bearer: String?, from address: ClientAddress
  ) async throws -> Session {
    try passwordRate.take(address, at: uptime())
    var guest: AccountID?
    if let guestToken {
      guest = try await self.guest(provedBy: guestToken)
    } else if let bearer, let caller = try await self.bearer(of: bearer), caller.kind == .guest {
      guest = caller.id
    }
    let token = try IDToken(idToken.exposed)
    let end = try await verify(token, from: address)
    let name = UserName(issuer: token.claims.issuer, subject: token.claims.subject)
    let user = try await accounts.exchange(
      token: Hex.string(Array(SHA256.hash(data: token.signed))), forgottenAt: end, for: name,
      newcomer: newUser(), adopting: guest)
    let waiting = await carry(user.adopting, into: user.id, AccountKeys.user(name))
    var session = try tokens.issue(.user, user.id, name: name.text, epoch: user.epoch, at: now())
    (session.adopted, session.waiting) = (guest, waiting)
    audit.note(AuditEvent(.signedIn, of: user.id, about: "issuer"), from: address)
    return session
  }

  /// A new user that is not stored yet.
  func newUser(adopting guests: [AccountID] = []) -> UserDocument {
    return UserDocument(id: .random(), epoch: 1, createdAt: now().rfc3339, adopting: guests)
  }

  /// Checks the token's claims before any key is fetched, and then its signature.
  /// - Returns: the time from which on the token would be refused for its age.
  private func verify(_ token: IDToken, from address: ClientAddress) async throws -> Timestamp {
    let claims = token.claims
    guard let keys = issuers.first(where: { $0.issuer.url.equalsBytes(of: claims.issuer) }) else {
      throw ServiceError.invalidToken("an issuer that is not trusted")
    }
    let end = try claims.check(
      for: keys.issuer, at: now(), age: AccountSettings.idTokenAge, skew: settings.skew)
    // No wrong token counts against its subject: anybody can write a subject into a token, and nobody can guess a
    // signature. Only the address pays.
    guard let key = try await keys.key(token.key),
      key.isSignature(token.signature, of: token.signed)
    else {
      audit.note(AuditEvent(.signInFailed, about: "issuer"), from: address)
      throw ServiceError.invalidToken("key or signature of an ID token")
    }
    return end
  }
}
