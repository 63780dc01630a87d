package import IPAddresses
package import Stores

extension AccountService {
  /// Logs a user or the administrator in.
  /// - Parameter guestToken: the token of a guest whose bookmarks the account adopts, exactly once.
  /// - Throws: `badCredentials`, `lockedOut`, `tooMany`, `hashingBusy`; for the guest's token
  ///   `invalidToken`, `expiredToken`, `guestSpent`.
  package func logIn(
    username: String, password: Secret, guestToken: String?, from address: ClientAddress
  ) async throws -> Session {
    var guest: AccountID?
    if let guestToken { guest = try await self.guest(provedBy: guestToken) }
    let user = try await verify(username, password, from: address)
    let waiting = user.kind == .user ? try await adopt(guest, into: user) : nil
    var session = try tokens.issue(
      user.kind, user.id, name: user.name.text, epoch: user.epoch, at: now())
    (session.adopted, session.waiting) = (user.kind == .user ? guest : nil, waiting)
    audit.note(AuditEvent(.signedIn, of: user.id, about: "password"), from: address)
    return session
  }

  /// Changes a user's password. All other sessions of the user end.
  /// - Parameter current: the present password. It proves that the session is not in other hands.
  /// - Returns: a new token of the same session; nil when the request was authenticated by a password.
  /// - Throws: `noPassword` for a principal without a password here; `invalidPassword`, `badCredentials`,
  ///   `lockedOut`, `tooMany`, `hashingBusy`; the store's errors.
  package func changePassword(
    of person: Principal, from current: Secret, to password: Secret, at address: ClientAddress
  ) async throws -> IssuedToken? {
    guard person.kind == .user, let username = person.username,
      !username.utf8.starts(with: UserName.issuedPrefix.utf8)
    else { throw ServiceError(.noPassword, Self.noPasswordReason(of: person)) }
    try PasswordRule.check(password)
    let user = try await verify(username, current, from: address)
    guard user.id == person.id else { throw ServiceError.badCredentials }
    let changed = try await change(user.name, password, inEpoch: user.epoch)
    guard let changed else { throw ServiceError.badCredentials }
    noteSet(password, of: user.name, from: address)
    audit.note(AuditEvent(.passwordChanged, of: person.id), from: address)
    guard person.tokenID != nil else { return nil }
    return try tokens.issue(
      .user, changed.id, name: username, epoch: changed.epoch, continuing: person, at: now()
    ).token
  }

  /// A token with which a user chooses another password, once and within a day. For the operator, who is responsible for
  /// giving it to the right person.
  /// - Throws: `invalidName`, `unknownUser`.
  package func passwordReset(for username: String) async throws -> IssuedToken {
    let name = try UserName(username).usualSpelling
    guard let known = try await accounts.user(name) else {
      throw ServiceError(.unknownUser, "There is no user of this name.")
    }
    let token = try tokens.issue(
      .user, known.document.id, name: (known.name ?? name).text, epoch: known.document.epoch,
      for: .passwordReset,
      at: now()
    ).token
    audit.note(AuditEvent(.resetMade, of: known.document.id, by: .administrator))
    return token
  }

  /// Changes the password of the user of such a token. All sessions of the user end, and all such tokens become
  /// invalid.
  /// - Throws: `invalidToken`, `expiredToken`, `invalidPassword`, `tooMany`, `hashingBusy`; the store's errors.
  package func resetPassword(
    with token: String, to password: Secret, at address: ClientAddress
  ) async throws {
    let person = try await verify(token: token, for: .passwordReset).principal
    guard let name = person.username.flatMap({ try? UserName($0) }),
      let known = try await accounts.user(name), known.document.id == person.id,
      known.document.epoch == person.epoch
    else { throw ServiceError.invalidToken("used") }
    try PasswordRule.check(password)
    try passwordRate.take(address, at: uptime())
    guard try await change(name, password, inEpoch: person.epoch) != nil else {
      throw ServiceError.invalidToken("used")
    }
    noteSet(password, of: name, from: address)
    audit.note(AuditEvent(.passwordChanged, of: person.id, about: "reset"), from: address)
  }

  private func change(
    _ name: UserName, _ password: Secret, inEpoch epoch: Int? = nil
  ) async throws -> UserDocument? {
    let hash = try await newHash(of: password, for: name)
    guard let user = try await accounts.changePassword(name, hash, inEpoch: epoch) else {
      return nil
    }
    endProofs(of: .user(user.id))
    return user
  }

  /// The hash of a user's next password, in the form of the present one.
  private func newHash(of password: Secret, for name: UserName) async throws -> PasswordHash {
    let bytes = PasswordRule.normalized(password)
    let form = try await accounts.user(name.usualSpelling)?.credentials.password.form ?? .plain
    return try await hashing.hash(bytes, as: form.next(for: bytes))
  }

  private static func noPasswordReason(of person: Principal) -> String {
    switch person.kind {
    case .guest: "A guest has no password: sign up first."
    case .administrator: "Only the server's operator can change this password."
    case .user: "This account has no password here: its owner logs in with another issuer."
    }
  }

  /// Creates a user and logs them in.
  /// - Parameter digest: the password's MD5, if the user's client sends that at each log-in. Both are accepted then.
  /// - Parameter guest: the principal of the request, if there is one. A guest's bookmarks become the user's.
  /// - Throws: `invalidName`, `invalidPassword`, `taken`, `guestSpent`, `tooMany`, `hashingBusy`.
  package func signUp(
    username: String, password: Secret, digest: Secret? = nil, guest: Principal?,
    from address: ClientAddress
  ) async throws -> Session {
    let name = try UserName(ofNewcomer: username)
    try PasswordRule.check(password)
    let form = try PasswordForm(of: password, sentAs: digest)
    try passwordRate.take(address, at: uptime())
    let adopted = guest.flatMap { $0.kind == .guest ? $0.id : nil }
    // A guest who signs up is there already.
    if adopted == nil { try accounts.stores.requireSpaceForNewcomers() }
    let user = try await create(name, password, as: form, adopting: adopted)
    noteSet(password, of: name, from: address)
    let waiting = await carry(user.adopting, into: user.id, AccountKeys.user(name))
    audit.note(AuditEvent(.signedUp, of: user.id), from: address)
    var session = try tokens.issue(.user, user.id, name: name.text, epoch: user.epoch, at: now())
    session.waiting = waiting
    return session
  }

  /// Creates a user, for the command line.
  /// - Throws: `invalidName`, `invalidPassword`, `taken`, `hashingBusy`.
  package func addUser(username: String, password: Secret) async throws -> AccountID {
    let name = try UserName(ofNewcomer: username)
    try PasswordRule.check(password)
    let id = try await create(name, password, as: .plain, adopting: nil).id
    audit.note(AuditEvent(.userAdded, of: id, by: .administrator))
    return id
  }

  /// Changes a user's password, for the command line. All sessions of the user end.
  /// - Throws: `invalidName`, `invalidPassword`, `unknownUser`, `hashingBusy`.
  package func changePassword(username: String, password: Secret) async throws {
    let name = try UserName(username).usualSpelling
    try PasswordRule.check(password)
    guard let user = try await change(name, password) else {
      throw ServiceError(.unknownUser, "There is no user of this name.")
    }
    audit.note(AuditEvent(.passwordChanged, of: user.id, by: .administrator))
  }

  /// The account with a user name, for the members of lists; nil when there is none.
  /// - Throws: the store's errors.
  package func accountID(ofUser username: String) async throws -> AccountID? {
    guard let name = try? UserName(given: username) else { return nil }
    return try await accounts.document(name.usualSpelling)?.id
  }

  private func create(
    _ name: UserName, _ password: Secret, as form: PasswordForm, adopting guest: AccountID?
  ) async throws -> UserDocument {
    // This check saves the time of the hash. The transaction decides.
    guard administrator.present.administrator?.isTaken(for: name) != true,
      try await accounts.user(name) == nil
    else { throw ServiceError.taken }
    let hash = try await hashing.hash(PasswordRule.normalized(password), as: form)
    let user = newUser(adopting: guest.map { [$0] } ?? [])
    try await accounts.create(name, user, password: hash)
    return user
  }
}
