import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Stores

/// Guests, users and sessions.
struct AccountController: Sendable {
  let accounts: AccountService
  let hotels: HotelService
  let authentication: Authentication
  let address: ServerAddress
  /// Sessions that are only in a browser's cookie.
  let browsers: BrowserSessions
  /// The writes that were answered before they are done.
  let writes: PendingWrites

  var routes: [Route] {
    [
      Route(.post, "/v1/guests", access: .open, answer: .uncached) { call, _ in
        if let session = try await browsers.guest(call) { return session }
        let guest = try await accounts.createGuest(from: call.address)
        return .json(.created) { writer in
          writer.member("id", guest.id.text)
          writer.token(guest.token)
        }
      },
      Route(.post, "/v1/users", access: .anyone, answer: .uncached, completion: .always) {
        call, caller in
        let body = try CredentialsBody(try await call.json(.small))
        // Ignored, it would leave the guest's bookmarks behind.
        guard body.guestToken == nil else {
          throw Problem(
            .badRequest, "bad_request",
            "To sign up, send the guest's token as Authorization: Bearer")
        }
        let takesCookie = try authentication.takesCookie(call, isRequired: body.isForCookie)
        let guest = caller?.kind == .guest ? caller : nil
        let session = try await writes.settled(guest?.id) {
          try await accounts.signUp(
            username: body.username, password: body.password, guest: guest, from: call.address)
        }
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
          let store = session.principal.store
          do { adoption = try await hotels.adoption(of: guest, in: store) } catch {
            // If the account's store can't be read, the answer says so as the reason why the guest's data wait.
            if session.waiting == nil { throw error }
          }
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
    let guest = body.isForCookie ? try await browsers.guestToken(call) : nil
    let token = body.guestToken ?? guest
    return try await writes.settled(try await accounts.guest(provedBy: token)) {
      try await accounts.logIn(
        username: body.username, password: body.password, guestToken: token, from: call.address)
    }
  }

  /// A session for the ID token of another issuer. The guest's token is in the body, or is the request's own.
  private func exchange(_ body: JSONNode, _ call: Call) async throws -> Session {
    let token = Secret(try CredentialsBody.text("idToken", in: body))
    guard body["username"] == nil, body["password"] == nil else {
      throw Problem.badRequest("The body must have idToken or a password, not both")
    }
    var bearer: String?
    if case .bearer(let token)? = call[.authorization].flatMap(SentCredentials.init(authorization:))
    {
      bearer = token
    }
    let guest = try CredentialsBody.isForCookie(body) ? try await browsers.guestToken(call) : nil
    let guestToken = try CredentialsBody.guestToken(in: body) ?? guest
    var leaving = try await accounts.guest(provedBy: guestToken)
    if guestToken == nil, let bearer, let caller = try await accounts.bearer(of: bearer),
      caller.kind == .guest
    {
      leaving = caller.id
    }
    return try await writes.settled(leaving) {
      try await accounts.exchange(
        idToken: token, guestToken: guestToken, bearer: bearer, from: call.address)
    }
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
      writer.token(session.token, isForCookie: isForCookie)
      if let adoption { writer.object("adoption") { $0.adoption(adoption) } }
      if let waiting = session.waiting {
        let problem = ErrorTable.problem(for: waiting)
        writer.object("waiting") { writer in
          writer.member("error", problem.error)
          writer.member("reason", problem.reason)
        }
      }
    }
  }
}

extension JSONWriter {
  /// Writes a token and its end.
  /// - Parameter isForCookie: whether the token is only in the cookie, where no script can read it.
  mutating func token(_ token: IssuedToken, isForCookie: Bool = false) {
    if !isForCookie { member("token", token.token.exposed) }
    member("expiresAt", token.expiresAt.rfc3339)
  }

  /// Writes the members of an adoption, with the hotels in which the guest's words stand only in an earlier revision.
  mutating func adoption(_ adoption: TakenOver) {
    member("id", adoption.guest.text)
    member("bookmarks", adoption.bookmarks)
    member("time", adoption.time.rfc3339)
    member("undoableUntil", adoption.undoableUntil.rfc3339)
    objects("differing", of: adoption.differing) { hotel, writer in
      writer.member("id", hotel.id)
      writer.member("rev", hotel.revision.description)
    }
  }
}
