import Accounts
import HTTPTypes
import Hummingbird

/// Renews tokens by use. Once a day, the first suitable answer to a session carries its next token, whatever the route:
/// in `Set-Cookie` if the request had the cookie, otherwise in `Renewed-Token`.
///
/// Such an answer belongs to one caller. So it is `private, no-store`, has no entity tag and is never a 304, whose fields a
/// cache would add to what it keeps.
struct SessionRenewal: Sendable {
  let accounts: AccountService
  let address: ServerAddress

  /// The request as the route gets it: if a renewal is due, without the conditions of a read.
  func prepared(_ call: Call, of principal: Principal) -> Call {
    guard Self.isSuitable(call), accounts.isRenewalDue(principal) else { return call }
    return call.unconditional
  }

  /// The answer with the next token, if one is due.
  func renewing(_ response: Response, to call: Call, of principal: Principal) async -> Response {
    guard Self.isSuitable(call), Self.isSuitable(response),
      let token = await accounts.renewedForAnswer(principal)
    else { return response }
    var response = response
    add(token, to: &response.headers, answering: call)
    return response
  }

  /// Adds a token to the fields of an answer.
  func add(_ token: IssuedToken, to fields: inout HTTPFields, answering call: Call) {
    // Who sent a cookie may be a page, whose scripts must not get the token.
    if call[.authorization] == nil {
      let sent = call[.cookie].flatMap(SentCredentials.cookie)
      fields[.setCookie] = address.cookie(token, named: sent?.name ?? SentCredentials.cookieName)
    } else {
      fields[.renewedToken] = token.token.exposed
    }
    fields[.cacheControl] = "private, no-store"
    fields[.eTag] = nil
    fields[.lastModified] = nil
  }

  /// Clients of CouchDB ask with `HEAD` for nothing but the entity tag, which is the revision.
  private static func isSuitable(_ call: Call) -> Bool { call.request.method != .head }

  /// An answer that sets another cookie, or removes it, is about another session.
  private static func isSuitable(_ response: Response) -> Bool {
    response.status.kind == .successful && !response.headers.contains(.setCookie)
      && !response.headers.contains(.renewedToken)
  }
}

extension Call {
  /// A read without the conditions that may be answered 304 (RFC 9110, section 13.1). Other requests are unchanged.
  fileprivate var unconditional: Call {
    guard request.method == .get else { return self }
    var head = request.head
    head.headerFields[.ifNoneMatch] = nil
    head.headerFields[.ifModifiedSince] = nil
    var call = self
    call.request = Request(head: head, body: request.body)
    return call
  }
}
