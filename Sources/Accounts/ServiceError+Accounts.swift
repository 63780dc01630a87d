package import Stores

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
