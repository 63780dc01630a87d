import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import JSON
import Stores

extension HTTPService {
  /// Guests, users and sessions.
  var accountRoutes: [Route] {
    [
      Route(.post, "/v1/guests", access: .open, answer: .uncached) { call, _ in
        if let session = try await browserGuest(call) { return session }
        let guest = try await accounts.createGuest(from: call.address)
        return .json(.created) { writer in
          writer.member("id", guest.id.text)
          Self.write(guest.token, to: &writer)
        }
      },
      Route(.post, "/v1/users", access: .anyone, answer: .uncached, completion: .always) {
        call, caller in
        let body = try CredentialsBody(try await call.json(.small))
        let takesCookie = try authentication.takesCookie(call, isRequired: body.isForCookie)
        let session = try await accounts.signUp(
          username: body.username, password: body.password,
          guest: caller?.kind == .guest ? caller : nil, from: call.address)
        return sessionAnswer(
          .created, session, nil, isForCookie: body.isForCookie, takesCookie: takesCookie)
      },
      Route(.post, "/v1/sessions", access: .open, answer: .uncached, completion: .always) {
        call, _ in
        let body = try await call.json(.small)
        let isForCookie = try CredentialsBody.isForCookie(body)
        let takesCookie = try authentication.takesCookie(call, isRequired: isForCookie)
        let session = try await body["idToken"] == nil ? logIn(body, call) : exchange(body, call)
        var adoption: TakenOver?
        if let guest = session.adopted {
          adoption = try await hotels.adoption(of: guest, in: session.principal.store)
        }
        return sessionAnswer(
          .ok, session, adoption, isForCookie: isForCookie, takesCookie: takesCookie)
      },
      Route(.post, "/v1/password-resets", access: .open, completion: .always) { call, _ in
        let body = try await call.json(.small)
        try await accounts.resetPassword(
          with: try CredentialsBody.text("token", in: body),
          to: Secret(try CredentialsBody.text("password", in: body)), at: call.address)
        return .empty(.noContent)
      },
      Route(.delete, "/v1/sessions", access: .signedIn, completion: .always, changes: .credentials)
      { call, person in
        if try call.query("all").isSet("all") {
          try await accounts.endSessions(of: person)
        } else {
          try await accounts.logOut(person)
        }
        return .empty(.noContent, headers: ServerAddress.cookieRemoval)
      },
    ]
  }

  private func logIn(_ body: JSONNode, _ call: Call) async throws -> Session {
    let body = try CredentialsBody(body)
    let guest = body.isForCookie ? try await cookieGuest(call) : nil
    return try await accounts.logIn(
      username: body.username, password: body.password, guestToken: body.guestToken ?? guest,
      from: call.address)
  }

  /// A session for the ID token of another issuer. The guest's token is in the body, or is the request's own.
  private func exchange(_ body: JSONNode, _ call: Call) async throws -> Session {
    let token = Secret(try CredentialsBody.text("idToken", in: body))
    guard body["username"] == nil, body["password"] == nil else {
      throw Problem(
        .badRequest, "bad_request", "The body must have idToken or a password, not both")
    }
    var bearer: String?
    if case .bearer(let token)? = call[.authorization].flatMap(SentCredentials.init(authorization:))
    {
      bearer = token
    }
    let guest = try CredentialsBody.isForCookie(body) ? try await cookieGuest(call) : nil
    return try await accounts.exchange(
      idToken: token, guestToken: try CredentialsBody.guestToken(in: body) ?? guest,
      bearer: bearer, from: call.address)
  }

  private func sessionAnswer(
    _ status: HTTPResponse.Status, _ session: Session, _ adoption: TakenOver?, isForCookie: Bool,
    takesCookie: Bool
  ) -> Response {
    var fields: HTTPFields = [:]
    if takesCookie { fields[.setCookie] = address.cookie(session.token) }
    return .json(status, headers: fields) { writer in
      writer.member("id", session.principal.id.text)
      writer.member("username", session.principal.username ?? "")
      Self.write(session.token, to: &writer, isForCookie: isForCookie)
      if let adoption {
        writer.name("adoption")
        Self.write(adoption, to: &writer)
      }
    }
  }

  static func write(
    _ token: IssuedToken, to writer: inout JSONWriter, isForCookie: Bool = false
  ) {
    if !isForCookie { writer.member("token", token.token.exposed) }
    writer.member("expiresAt", token.expiresAt.rfc3339)
  }
}

/// The body of a sign-up or a log-in.
struct CredentialsBody: Sendable {
  let username: String
  let password: Secret
  let guestToken: String?
  /// Whether the session is only in the cookie: no script gets a token, and the guest is that of the cookie.
  let isForCookie: Bool

  /// Reads `{"username","password","guestToken"?,"cookie"?}`.
  /// - Throws: ``Problem`` 400 for a member that is missing or not a string.
  init(_ body: JSONNode) throws(Problem) {
    guard body.kind == .object else {
      throw Problem(.badRequest, "bad_request", "The body must be an object")
    }
    username = try Self.text("username", in: body)
    password = Secret(try Self.text("password", in: body))
    guestToken = try Self.guestToken(in: body)
    isForCookie = try Self.isForCookie(body)
  }

  /// The member `cookie`; false if it is absent.
  /// - Throws: ``Problem`` 400 for a value that is no boolean, and for a body that is no object.
  static func isForCookie(_ body: JSONNode) throws(Problem) -> Bool {
    guard body.kind == .object else {
      throw Problem(.badRequest, "bad_request", "The body must be an object")
    }
    guard let member = body["cookie"] else { return false }
    guard let isForCookie = member.bool else {
      throw Problem(.badRequest, "bad_request", "cookie must be true or false")
    }
    return isForCookie
  }

  /// The guest's token; nil if it is absent.
  static func guestToken(in body: JSONNode) throws(Problem) -> String? {
    body["guestToken"] == nil ? nil : try text("guestToken", in: body)
  }

  /// A member that has to be a string.
  static func text(_ name: String, in body: JSONNode) throws(Problem) -> String {
    guard let text = body[name]?.string else {
      throw Problem(.badRequest, "bad_request", "The body needs \(name), a string")
    }
    return text
  }
}
