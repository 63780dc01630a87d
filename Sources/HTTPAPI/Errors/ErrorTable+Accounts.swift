import Accounts
import HTTPTypes
import Stores

extension ErrorTable {
  /// What accounts refuse.
  static func account(_ error: AccountError) -> Problem {
    let wait = error.retryAfterSeconds ?? 1
    return switch error.code {
    case .invalidName: Problem(.badRequest, "invalid_username", error.reason)
    case .invalidPassword: Problem(.badRequest, "invalid_password", error.reason)
    case .taken: Problem(.conflict, "conflict", error.reason)
    case .badCredentials, .invalidToken, .expiredToken:
      Problem(
        .unauthorized, "unauthorized", error.reason, headers: Authentication.challenge)
    case .lockedOut, .tooMany:
      Problem(.tooManyRequests, "too_many_requests", error.reason, retryAfter: wait)
    case .guestSpent: Problem(.gone, "guest_spent", error.reason)
    case .unknownUser: Problem(.notFound, "not_found", error.reason)
    case .hashingBusy:
      Problem(.serviceUnavailable, "unavailable", error.reason, retryAfter: wait)
    case .issuerUnavailable:
      Problem(
        .serviceUnavailable, "issuer_unavailable", error.reason, retryAfter: wait,
        detail: error.detail)
    case .store: error.store.map { problem(for: $0) } ?? .notFound
    case .keys:
      Problem(.serviceUnavailable, "unavailable", "Tokens can't be made now", detail: error.detail)
    }
  }
}
