import Accounts
package import HTTPTypes
import Hummingbird

/// One operation: a method, a path template, its policy and its handler.
///
/// The policy is declared, never derived from the template's text: who may call, what may be kept of the answers, whether
/// it is completed when its client hangs up, what it changes, what its work costs, and how its errors are written.
package struct Route: Sendable {
  /// Who may call an operation.
  package enum Access: Sendable {
    /// Anybody; credentials are ignored.
    case open
    /// Anybody; credentials are optional, but have to be valid. A cookie whose session has ended counts as none.
    case anyone
    /// A guest or a user, who have a store of their own.
    case person
    /// A guest, a user or the administrator.
    case signedIn
    /// The administrator, by credentials or over the control socket; for everybody else the path appears absent.
    case administrator
    /// The administrator over the control socket; for everybody else the path appears absent. For what names a path or
    /// another server, and for what would let the administrator act as a user.
    case controlSocket
  }

  /// An access with the type of the caller that its handlers get.
  struct Permit<Caller: Sendable>: Sendable {
    let access: Access
    /// The authenticated principal as a handler gets it.
    let caller: @Sendable (Principal?) throws -> Caller
  }

  /// What may be kept of the answers. An error is never kept by a cache.
  package enum Answer: Sendable {
    /// Caches may keep it, but have to validate it before each use.
    case validated
    /// The same. The server keeps it for requests with an idempotency key and for receipts (``WriteOptions``), so the
    /// client need not wait for it.
    case kept
    /// No cache may keep it, because it has a credential or is about one person.
    case uncached
    /// The same. For requests with an idempotency key the server keeps only that the write was carried out, not the
    /// answer. The client waits for it.
    case secret

    /// Whether the server keeps something of it for requests with an idempotency key.
    package var isKept: Bool { self == .kept || self == .secret }

    /// Whether no cache may keep it.
    var isUncached: Bool { self == .uncached || self == .secret }
  }

  /// What happens when the client hangs up.
  enum Completion: Sendable {
    /// The work ends with its client.
    case withClient
    /// The work is completed, because its steps belong together, such as erasing an account or publishing a draft.
    case always
  }

  /// What an operation changes of its caller.
  enum Change: Sendable {
    /// Nothing of the caller's own.
    case nothing
    /// The caller's data. New guests of one address share an allowance for that, and the caller is checked again
    /// before the answer.
    case data
    /// The caller's credentials, which end. So they are not checked again.
    case credentials
  }

  /// What the work is charged to.
  enum Cost: Sendable {
    /// The caller's account. The work waits for its turn.
    case callers
    /// Nothing, and it waits for no turn: no client can make the answer long, and operators need theirs in an overload.
    case free
  }

  package let method: HTTPRequest.Method
  /// The path with its parameters in braces, as in `openapi.yaml`.
  package let template: String
  /// Who may call it.
  package let access: Access
  /// What may be kept of its answers.
  package let answer: Answer
  /// What happens when the client hangs up.
  let completion: Completion
  /// What it changes of its caller.
  let changes: Change
  /// What its work is charged to.
  let cost: Cost
  /// Whether the path's last parameter takes all further segments, too: a name may have slashes.
  fileprivate(set) var takesRest = false
  /// How its errors are written.
  fileprivate(set) var dialect = Problem.Dialect.problem
  /// The handler. The principal is nil only where the access allows it.
  let run: @Sendable (Call, Principal?) async throws -> Response

  /// A route.
  /// - Parameter changes: nil for the usual: a person's writes change their data, everything else nothing.
  /// - Parameter run: answers a request of a caller who has access.
  init<Caller: Sendable>(
    _ method: HTTPRequest.Method, _ template: String, access: Permit<Caller>,
    answer: Answer = .validated, completion: Completion = .withClient, changes: Change? = nil,
    cost: Cost = .callers, run: @escaping @Sendable (Call, Caller) async throws -> Response
  ) {
    self.method = method
    self.template = template
    self.access = access.access
    self.answer = answer
    self.completion = completion
    let isPersons = access.access == .person || access.access == .signedIn
    self.changes = changes ?? (isPersons && ![.get, .head].contains(method) ? .data : .nothing)
    self.cost = cost
    self.run = { call, principal in try await run(call, try access.caller(principal)) }
  }

  /// A person's write that is completed when its client hangs up, and of which the server keeps the answer or a note.
  static func completed(
    _ method: HTTPRequest.Method, _ template: String, answer: Answer = .kept,
    run: @escaping @Sendable (Call, Principal) async throws -> Response
  ) -> Route {
    Route(method, template, access: .person, answer: answer, completion: .always, run: run)
  }

  /// The number of literal segments in its path. If two routes match a path, the one with more of them is used.
  var literalCount: Int {
    template.utf8.split(separator: UInt8(ascii: "/")).count { $0.first != UInt8(ascii: "{") }
  }

  /// The same route, whose last parameter takes all further segments.
  var takingRest: Route {
    var route = self
    route.takesRest = true
    return route
  }
}

extension Route.Permit where Caller == Void {
  static var open: Self { Self(access: .open) { _ in } }
  static var administrator: Self { Self(access: .administrator) { _ in } }
  static var controlSocket: Self { Self(access: .controlSocket) { _ in } }
}

extension Route.Permit where Caller == Principal? {
  static var anyone: Self { Self(access: .anyone) { $0 } }
}

extension Route.Permit where Caller == Principal {
  static var person: Self { Self(.person) }
  static var signedIn: Self { Self(.signedIn) }

  private init(_ access: Route.Access) {
    self.init(access: access) { principal in
      guard let principal else { throw Authentication.required }
      return principal
    }
  }
}

extension [Route] {
  /// The routes of a group whose errors are written in another dialect than `/v1`'s.
  func speaking(_ dialect: Problem.Dialect) -> [Route] {
    map { route in
      var route = route
      route.dialect = dialect
      return route
    }
  }
}
