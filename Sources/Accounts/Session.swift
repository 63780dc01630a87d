package import Documents

/// What signing up or logging in gives: who it is and the token that says so from now on.
package struct Session: Sendable, Equatable {
  /// Who.
  package let principal: Principal
  /// Their token.
  package let token: IssuedToken

  /// A session by its parts.
  package init(principal: Principal, token: IssuedToken) {
    self.principal = principal
    self.token = token
  }
}

/// A token for its owner's eyes.
package struct IssuedToken: Sendable, Equatable {
  /// The JSON Web Token.
  package let token: Secret
  /// When it stops working.
  package let expiresAt: Timestamp

  /// A token as signed.
  package init(token: Secret, expiresAt: Timestamp) {
    self.token = token
    self.expiresAt = expiresAt
  }
}
