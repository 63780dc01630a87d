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
