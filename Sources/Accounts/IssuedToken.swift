package import Documents

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
