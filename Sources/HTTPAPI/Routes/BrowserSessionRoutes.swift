import Accounts
import Documents
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// Sessions of browsers: the token is in a cookie that no script can read, and in no body.
extension HTTPService {
  /// The answer to `POST /v1/guests` with `{"cookie":true}`: the cookie's session where it is good still, else a new
  /// guest's; nil where the body does not ask for that.
  /// - Throws: ``Problem`` 403 for the administrator, who has no bookmarks, and for a page of another origin.
  func browserGuest(_ call: Call) async throws -> Response? {
    // A body was never needed here, and what came with one was not looked at.
    let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
    guard !bytes.isEmpty, call[.contentType]?.lowercased().hasPrefix("application/json") ?? false,
      try CredentialsBody.isForCookie(try await call.json(bytes, .small))
    else { return nil }
    if let (_, person) = try await cookiePerson(call) {
      guard person.kind != .administrator else { throw Authentication.noStore }
      return .json(headers: Self.private) { writer in
        Self.write(person.id.text, person.kind, person.username, to: &writer)
        if let end = person.expiresAt { writer.member("expiresAt", end.rfc3339) }
      }
    }
    let guest = try await accounts.createGuest(from: call.address)
    var fields = Self.private
    fields[.setCookie] = sessionCookie(guest.token)
    return .json(.created, headers: fields) { writer in
      Self.write(guest.id.text, .guest, nil, to: &writer)
      Self.write(guest.token, to: &writer, isForCookie: true)
    }
  }

  /// The token of the guest whose cookie came with a log-in; nil without one, or where the session has ended.
  func cookieGuest(_ call: Call) async throws -> String? {
    guard let (token, person) = try await cookiePerson(call), person.kind == .guest else {
      return nil
    }
    return token
  }

  /// Who a request's cookie proves; nil for nobody, and where the session has ended.
  /// - Throws: ``Problem`` 403 for a write from another origin.
  private func cookiePerson(_ call: Call) async throws -> (token: String, person: Principal)? {
    guard let token = call[.cookie].flatMap(SentCredentials.cookie) else { return nil }
    try authentication.checkOrigin(call)
    do {
      return (token, try await accounts.authenticate(bearer: token))
    } catch {
      guard Authentication.hasEnded(error) else { throw error }
      return nil
    }
  }

  private static func write(
    _ id: String, _ kind: Principal.Kind, _ username: String?, to writer: inout JSONWriter
  ) {
    writer.member("id", id)
    writer.member("kind", kind.rawValue)
    if let username { writer.member("username", username) }
  }
}
