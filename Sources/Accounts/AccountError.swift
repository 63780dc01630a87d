package import Stores

/// Why somebody was not let in, or not made. The reason may be shown to a client.
package struct AccountError: StoreFailure, Sendable, CustomDebugStringConvertible {
  /// What went wrong; closed, so that each adapter maps every case. The comments say the status.
  package enum Code: String, Sendable, CaseIterable {
    /// 400: the name breaks the rules of ``UserName``.
    case invalidName
    /// 400: the password is too short, too long or has a NUL.
    case invalidPassword
    /// 403: who has no password here can't change it.
    case noPassword
    /// 409: the name belongs to somebody.
    case taken
    /// 401: no such user, or not their password; in the same words.
    case badCredentials
    /// 401: the token is not one of ours, or was revoked.
    case invalidToken
    /// 401: the token was good once.
    case expiredToken
    /// 429: too many wrong passwords for this name from this address.
    case lockedOut
    /// 429: too many requests of this kind from this address.
    case tooMany
    /// 410: that guest has become another user's, or was erased.
    case guestSpent
    /// 404: no such user (command line only).
    case unknownUser
    /// 503: more passwords are waiting to be hashed than the service takes.
    case hashingBusy
    /// 503: the keys of a token's issuer can't be had now.
    case issuerUnavailable
    /// The store's own error; see ``AccountError/store``.
    case store
    /// A file of keys or of the administrator's password can't be used; at start only.
    case keys
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// Whole seconds after which trying again makes sense; with `lockedOut`, `tooMany`, `hashingBusy`,
  /// `issuerUnavailable`.
  package let retryAfterSeconds: Int?
  /// The store's error where ``code`` is `store`.
  package let store: StoreError?
  /// What an operator needs: system errors, which check failed. Never shown to a client.
  package let detail: String

  /// An error with its words.
  package init(_ code: Code, _ reason: String, retryAfterSeconds: Int? = nil, detail: String = "") {
    self.code = code
    self.reason = reason
    self.retryAfterSeconds = retryAfterSeconds
    self.detail = detail
    store = nil
  }

  /// The error of a store below.
  package init(_ error: StoreError) {
    code = .store
    reason = error.reason
    retryAfterSeconds = nil
    detail = error.debugDescription
    store = error
  }

  /// The one answer to a wrong name and to a wrong password.
  package static let badCredentials = AccountError(
    .badCredentials, "Name or password is incorrect.")
  /// The one answer to every token that was never good, or is no more.
  package static func invalidToken(_ detail: String) -> AccountError {
    AccountError(.invalidToken, "The token is not valid.", detail: detail)
  }
  /// The answer to a token whose time is over.
  package static let expiredToken = AccountError(.expiredToken, "The token has expired.")
  /// The answer to a name that belongs to somebody.
  package static let taken = AccountError(.taken, "This name is taken.")
  /// The answer to a guest's token after the guest became a user, or was erased.
  package static let guestSpent = AccountError(
    .guestSpent, "This guest is no more: its bookmarks went to an account or were erased.")
  /// The answer when too many passwords wait to be hashed.
  package static let hashingBusy = AccountError(
    .hashingBusy, "Too many log-ins at once; try again in a moment.", retryAfterSeconds: 1)

  package var debugDescription: String { "AccountError(\(code.rawValue): \(reason) \(detail))" }
}
