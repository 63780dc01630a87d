import Accounts
import Documents

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
    guard body.kind == .object else { throw Problem.badRequest("The body must be an object") }
    username = try Self.text("username", in: body)
    password = Secret(try Self.text("password", in: body))
    guestToken = try Self.guestToken(in: body)
    isForCookie = try Self.isForCookie(body)
  }

  /// The member `cookie`; false if it is absent.
  /// - Throws: ``Problem`` 400 for a value that is no boolean, and for a body that is no object.
  static func isForCookie(_ body: JSONNode) throws(Problem) -> Bool {
    guard body.kind == .object else { throw Problem.badRequest("The body must be an object") }
    guard let member = body["cookie"] else { return false }
    guard let isForCookie = member.bool else {
      throw Problem.badRequest("cookie must be true or false")
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
      throw Problem.badRequest("The body needs \(name), a string")
    }
    return text
  }
}
