package import Documents
package import Stores

/// Who a request comes from, once proved.
package struct Principal: Sendable, Equatable {
  /// What somebody may be.
  package enum Kind: String, Sendable, CaseIterable {
    /// Nobody by name: a random id and a token that proves it.
    case guest
    /// Somebody with a name and a password.
    case user
    /// The one whom the configuration names.
    case administrator
  }

  /// What they are.
  package let kind: Kind
  /// Their id; it outlives tokens and names nobody.
  package let id: AccountID
  /// The name as signed up; nil for a guest.
  package let username: String?
  /// Their own store. The administrator's is a name alone, of a store that is never made.
  package let store: StoreName
  /// The session's id, the same in every token of one session; nil where a password was the proof.
  package let tokenID: String?
  /// When the proof ends; nil where a password was the proof.
  package let expiresAt: Timestamp?
  /// The account's epoch when the proof was made: a later epoch ends it.
  package let epoch: Int
  /// The key that signed their token; nil where a password was the proof.
  package let keyID: KeyID?

  /// Somebody, by their parts.
  package init(
    kind: Kind, id: AccountID, username: String? = nil, store: StoreName, tokenID: String? = nil,
    expiresAt: Timestamp? = nil, epoch: Int = 0, keyID: KeyID? = nil
  ) {
    self.kind = kind
    self.id = id
    self.username = username
    self.store = store
    self.tokenID = tokenID
    self.expiresAt = expiresAt
    self.epoch = epoch
    self.keyID = keyID
  }
}

/// The answers to those who are not let in.
extension ServiceError {
  /// The one answer to a wrong name and to a wrong password.
  package static let badCredentials = ServiceError(
    .badCredentials, "Name or password is incorrect.")
  /// The one answer to every token that was never good, or is no more.
  package static func invalidToken(_ detail: String) -> ServiceError {
    ServiceError(.invalidToken, "The token is not valid.", detail: detail)
  }
  /// The answer to a token whose time is over.
  package static let expiredToken = ServiceError(.expiredToken, "The token has expired.")
  /// The answer to a name that belongs to somebody.
  package static let taken = ServiceError(.taken, "This name is taken.")
  /// The answer to a guest's token after the guest became a user, or was erased.
  package static let guestSpent = ServiceError(
    .guestSpent, "This guest is no more: its bookmarks went to an account or were erased.")
  /// The answer when too many passwords wait to be hashed.
  package static let hashingBusy = ServiceError(
    .hashingBusy, "Too many log-ins at once; try again in a moment.", retryAfterSeconds: 1)
}

extension Principal {
  /// Who stands with the revisions that they bring.
  package var author: Author {
    switch kind {
    case .guest: .guest(id)
    case .user: .user(id)
    case .administrator: .administrator
    }
  }
}
