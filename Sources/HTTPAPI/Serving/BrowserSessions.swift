import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// Sessions of browsers. The token is only in a cookie that no script can read, never in a body.
struct BrowserSessions: Sendable {
  let accounts: AccountService
  let authentication: Authentication
  let address: ServerAddress

  /// The answer to `POST /v1/guests` with `{"cookie":true}`: the session of the cookie if it is still valid, otherwise
  /// a new guest's.
  /// - Returns: nil if the body does not ask for a cookie.
  /// - Throws: ``Problem`` 403 for the administrator, who has no bookmarks, and for a page of another origin.
  func guest(_ call: Call) async throws -> Response? {
    // The body is optional, and any body that is not JSON is ignored.
    let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
    guard !bytes.isEmpty, call[.contentType]?.lowercased().hasPrefix("application/json") ?? false,
      try CredentialsBody.isForCookie(try await call.json(bytes, .small))
    else { return nil }
    _ = try authentication.takesCookie(call, isRequired: true)
    if let (_, person) = try await cookiePerson(call) {
      guard person.kind != .administrator else { throw Authentication.noStore }
      let name = try await accounts.name(of: person)
      return .json { writer in
        writer.member("id", person.id.text)
        writer.member("kind", person.kind.rawValue)
        if let name { writer.person(name) }
        if let end = person.expiresAt { writer.member("expiresAt", end.rfc3339) }
      }
    }
    let guest = try await accounts.createGuest(from: call.address)
    return .json(.created, headers: [.setCookie: address.cookie(guest.token)]) { writer in
      writer.member("id", guest.id.text)
      writer.member("kind", Principal.Kind.guest.rawValue)
      writer.token(guest.token, isForCookie: true)
    }
  }

  /// The token of the guest in a log-in's cookie; nil without a cookie, or if its session has ended.
  func guestToken(_ call: Call) async throws -> String? {
    guard let (token, person) = try await cookiePerson(call), person.kind == .guest else {
      return nil
    }
    return token
  }

  /// The person of a page's cookie; nil without a cookie, if its session has ended, and for a client that is no browser.
  /// ``Authentication/takesCookie(_:isRequired:)`` has allowed the page's origin.
  private func cookiePerson(_ call: Call) async throws -> (token: String, person: Principal)? {
    guard call[.origin] != nil, let token = call[.cookie].flatMap(SentCredentials.cookie)?.token
    else { return nil }
    do {
      return (token, try await accounts.authenticate(bearer: token))
    } catch {
      guard Authentication.hasEnded(error) else { throw error }
      return nil
    }
  }
}
