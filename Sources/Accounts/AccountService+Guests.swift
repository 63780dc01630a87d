package import Stores

extension AccountService {
  /// Makes a guest: a random id and the token that proves it. Nothing is stored; the guest's store is made
  /// at the first write.
  /// - Throws: `tooMany`.
  package func createGuest(
    from address: ClientAddress
  ) async throws(AccountError) -> (id: AccountID, token: IssuedToken) {
    try guestRate.take(address, at: uptime())
    var generator = SystemRandomNumberGenerator()
    let id = AccountID.random(using: &generator)
    let session = try tokens.issue(.guest, id, name: nil, epoch: 0, at: now())
    return (id, session.token)
  }

  /// The guest whom a token proves, one whose bookmarks have gone to an account included: whether it may
  /// still be adopted is for ``adopt(_:into:)`` to say.
  func guest(provedBy token: String) async throws(AccountError) -> AccountID {
    let principal = try tokens.verify(token, at: now()).principal
    guard principal.kind == .guest else { throw .invalidToken("no guest's") }
    if case .ended = try await accounts.standing(of: principal) { throw .invalidToken("ended") }
    return principal.id
  }

  /// Makes a guest's bookmarks a user's. First the claim, which only one user can have and which ends the
  /// guest's tokens; then the bookmarks; then a note that they have arrived. Whatever is missing after a
  /// failure is done when the user logs in next, with or without the guest's token.
  /// - Throws: `guestSpent`.
  func adopt(_ guest: AccountID, into user: VerifiedUser) async throws(AccountError) {
    switch try await accounts.claim(guest: guest, for: user.name, id: user.id) {
    case .claimed: break
    case .spent: throw .guestSpent
    case .noAccount: throw .badCredentials
    }
    try await carry(guest, into: user.id, user.name)
  }

  /// Carries a claimed guest's bookmarks over. Where something has to wait, so does the note that they have
  /// arrived.
  func carry(
    _ guest: AccountID, into user: AccountID, _ name: UserName
  ) async throws(AccountError) {
    proofs.end { $0.id == guest }
    let isWhole: Bool
    do { isWhole = try await adoptGuest(guest, user) } catch { throw AccountError(error) }
    guard isWhole else { return }
    try await accounts.adopted(guest: guest, by: name, id: user)
  }
}
