package import Stores

extension ServiceError.Code {
  package static let invalidName = Self("invalidName")
  /// The password is too short or too long, is commonly known, or contains a NUL.
  package static let invalidPassword = Self("invalidPassword")
  /// The user has no password here, so it can't be changed.
  package static let noPassword = Self("noPassword")
  /// Another user has this name.
  package static let taken = Self("taken")
  package static let badCredentials = Self("badCredentials")
  /// The token was not issued by this service, or was revoked.
  package static let invalidToken = Self("invalidToken")
  package static let expiredToken = Self("expiredToken")
  /// Too many wrong passwords for this name from this address.
  package static let lockedOut = Self("lockedOut")
  /// Too many requests of this kind from this address.
  package static let tooMany = Self("tooMany")
  package static let guestSpent = Self("guestSpent")
  /// The user is unknown (command line only).
  package static let unknownUser = Self("unknownUser")
  package static let hashingBusy = Self("hashingBusy")
  package static let issuerUnavailable = Self("issuerUnavailable")
  /// A file with keys or with the administrator's password is unusable.
  package static let keys = Self("keys")
}

/// The errors of authentication.
extension ServiceError {
  /// The same error for an unknown name and for a wrong password.
  package static let badCredentials = ServiceError(
    .badCredentials, "Name or password is incorrect.")
  /// The same error for every invalid token.
  package static func invalidToken(_ detail: String) -> ServiceError {
    ServiceError(.invalidToken, "The token is not valid.", detail: detail)
  }
  package static let expiredToken = ServiceError(.expiredToken, "The token has expired.")
  package static let taken = ServiceError(.taken, "This name is taken.")
  /// The error for a guest's token after the guest was adopted by an account or erased.
  package static let guestSpent = ServiceError(
    .guestSpent,
    "This guest does not exist any more: its bookmarks were moved to an account or erased.")
  /// The error when too many passwords wait to be hashed.
  package static let hashingBusy = ServiceError(
    .hashingBusy, "Too many log-ins at once; try again in a moment.", retryAfterSeconds: 1)
}
