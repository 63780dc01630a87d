import Accounts
package import HTTPTypes
import Hummingbird

/// One operation: a method, a path template, who may call it, and what it does. There is no way to make one
/// without saying who may call it.
package struct Route: Sendable {
  /// Who may call an operation.
  package enum Access: String, Sendable {
    /// Anybody; credentials are not looked at.
    case open
    /// Anybody; credentials are used if there are any, and must be good then.
    case anyone
    /// A guest or a user: who has a store of their own.
    case person
    /// A guest, a user or the administrator.
    case signedIn
  }

  typealias OpenHandler = @Sendable (Call) async throws -> Response
  typealias AnyoneHandler = @Sendable (Call, Principal?) async throws -> Response
  typealias PersonHandler = @Sendable (Call, Principal) async throws -> Response

  enum Handler: Sendable {
    case open(OpenHandler)
    case anyone(AnyoneHandler)
    case person(PersonHandler)
    case signedIn(PersonHandler)
  }

  /// The method.
  package let method: HTTPRequest.Method
  /// The path with its parameters in braces, as `openapi.yaml` writes it.
  package let template: String
  let handler: Handler

  /// Who may call it.
  package var access: Access {
    switch handler {
    case .open: .open
    case .anyone: .anyone
    case .person: .person
    case .signedIn: .signedIn
    }
  }

  static func open(
    _ method: HTTPRequest.Method, _ template: String, _ handler: @escaping OpenHandler
  ) -> Route {
    Route(method: method, template: template, handler: .open(handler))
  }

  static func anyone(
    _ method: HTTPRequest.Method, _ template: String, _ handler: @escaping AnyoneHandler
  ) -> Route {
    Route(method: method, template: template, handler: .anyone(handler))
  }

  static func person(
    _ method: HTTPRequest.Method, _ template: String, _ handler: @escaping PersonHandler
  ) -> Route {
    Route(method: method, template: template, handler: .person(handler))
  }

  static func signedIn(
    _ method: HTTPRequest.Method, _ template: String, _ handler: @escaping PersonHandler
  ) -> Route {
    Route(method: method, template: template, handler: .signedIn(handler))
  }

  /// Whether it changes what is the caller's; ending the caller's own proof is no such change.
  var isWrite: Bool {
    ![.get, .head].contains(method)
      && !Self.endingTheProof.contains { $0.method == method && $0.template == template }
  }

  private static let endingTheProof: [(method: HTTPRequest.Method, template: String)] = [
    (.delete, "/v1/me"), (.delete, "/v1/sessions"), (.put, "/v1/me/password"),
  ]

  /// Whether it consists of steps that belong together, such as signing up with a guest's bookmarks or erasing an
  /// account: it is carried to its end though its client has gone.
  let mustFinish: Bool

  private static let accountTemplates = [
    "/v1/me", "/v1/users", "/v1/sessions", "/v1/password-resets",
  ]

  private init(method: HTTPRequest.Method, template: String, handler: Handler) {
    self.method = method
    self.template = template
    self.handler = handler
    mustFinish =
      ![.get, .head].contains(method) && Self.accountTemplates.contains { template.hasPrefix($0) }
  }

  /// Whether a path (percent-encoded, checked) is one of this route's.
  func matches(_ path: String) -> Bool {
    let wanted = template.utf8.split(separator: UInt8(ascii: "/"))
    let given = path.utf8.split(separator: UInt8(ascii: "/"))
    guard wanted.count == given.count else { return false }
    return zip(wanted, given).allSatisfy { want, got in
      want.first == UInt8(ascii: "{") || want.elementsEqual(got)
    }
  }

  /// How many segments of its path may be anything: of two routes that a path fits, the router takes the one
  /// with fewer.
  var parameterCount: Int { template.utf8.count { $0 == UInt8(ascii: "{") } }
}
