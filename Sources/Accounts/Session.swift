package import Documents
package import Stores

/// The result of signing up or logging in: the principal and its token.
package struct Session: Sendable, Equatable {
  package let principal: Principal
  package let token: IssuedToken
  /// The guest whose data the account took over with the log-in; nil for none.
  package var adopted: AccountID?
  /// Why data of guests that the account has claimed wait in their stores; nil if none do, and for conflicting revisions
  /// that the documents have no room for.
  package var waiting: ServiceError?
}

/// A token for its owner.
package struct IssuedToken: Sendable, Equatable {
  /// The JSON Web Token.
  package let token: Secret
  package let expiresAt: Timestamp
}
