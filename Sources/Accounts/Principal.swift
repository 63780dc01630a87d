package import Documents
package import Stores

/// The authenticated sender of a request.
package struct Principal: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A random id without a name, proved by a token.
    case guest
    /// An account with a user name.
    case user
    /// The administrator whom the configuration names.
    case administrator
  }

  package let kind: Kind
  /// The principal's id. It is the same in every token and does not reveal the name.
  package let id: AccountID
  /// The user name, spelt as at the sign-up; nil for a guest.
  package let username: String?
  /// The principal's own store. The administrator has no store: this is only a name.
  package let store: StoreName
  /// The session's id, the same in every token of a session; nil when the principal was authenticated by a
  /// password.
  package let tokenID: String?
  /// When the token expires; nil when the principal was authenticated by a password.
  package let expiresAt: Timestamp?
  /// When the token was issued; nil when the principal was authenticated by a password.
  package let issuedAt: Timestamp?
  /// When the session began; nil when the principal was authenticated by a password.
  package let startedAt: Timestamp?
  /// The account's epoch when the proof was made. The proof becomes invalid when the epoch changes.
  package let epoch: Int
  /// The key that signed the token; nil when the principal was authenticated by a password.
  package let keyID: KeyID?

  package init(
    kind: Kind, id: AccountID, username: String? = nil, store: StoreName, tokenID: String? = nil,
    expiresAt: Timestamp? = nil, issuedAt: Timestamp? = nil, startedAt: Timestamp? = nil,
    epoch: Int = 0, keyID: KeyID? = nil
  ) {
    self.kind = kind
    self.id = id
    self.username = username
    self.store = store
    self.tokenID = tokenID
    self.expiresAt = expiresAt
    self.issuedAt = issuedAt
    self.startedAt = startedAt
    self.epoch = epoch
    self.keyID = keyID
  }

  /// The author that is stored with revisions of this principal.
  package var author: Author {
    switch kind {
    case .guest: .guest(id)
    case .user: .user(id)
    case .administrator: .administrator
    }
  }
}
