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

  /// Whether the route's template matches a path (percent-encoded, checked).
  func matches(_ path: String) -> Bool {
    let wanted = template.utf8.split(separator: UInt8(ascii: "/"))
    let given = path.utf8.split(separator: UInt8(ascii: "/"))
    guard wanted.count == given.count || takesRest && wanted.count < given.count else {
      return false
    }
    return zip(wanted, given).allSatisfy { want, got in
      want.first == UInt8(ascii: "{") || want.elementsEqual(got)
    }
  }

  /// The number of parameters in its path. If two routes match a path, the one with fewer parameters is used.
  var parameterCount: Int { template.utf8.count { $0 == UInt8(ascii: "{") } }
}

extension Route {
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

/// Finds the route of a request by the bytes of its path as sent.
///
/// A literal segment has priority over a parameter at the same position, without backtracking. Empty segments are
/// ignored here; where `//` is not allowed, it is refused earlier.
struct RouteTable: Sendable {
  /// A route with its parameter names and metrics.
  struct Entry: Sendable {
    let route: Route
    /// The names of its path's parameters, in order.
    let parameters: [String]
    /// The metrics of its requests.
    let metrics: RequestMetrics
  }

  /// A node of the tree of path segments.
  private struct Node: Sendable {
    var literals: [(text: [UInt8], node: Int)] = []
    var parameter: Int?
    var entries: [Entry] = []

    /// Whether further segments belong to the last parameter.
    var takesRest: Bool { entries.contains { $0.route.takesRest } }
  }

  private var nodes = [Node()]

  /// A table of routes, no two of which have the same method and template.
  init(_ routes: [Route]) {
    for route in routes { add(route) }
  }

  /// The routes of a path, one for each method, and the values of its parameters.
  struct Match: Sendable {
    private let entries: [Entry]
    private let values: [String]

    fileprivate init(_ entries: [Entry], _ values: [String]) {
      self.entries = entries
      self.values = values
    }

    /// The dialect of the path's routes; nil if there is none.
    var dialect: Problem.Dialect? { entries.first?.route.dialect }

    /// The route for a method; the route of `GET` for `HEAD`. Nil if there is none.
    func entry(for method: HTTPRequest.Method) -> Entry? {
      entries.first { $0.route.method == method }
        ?? (method == .head ? entries.first { $0.route.method == .get } : nil)
    }

    /// The values of the path's parameters, by the names that a route has for them.
    func arguments(of entry: Entry) -> PathArguments {
      PathArguments(names: entry.parameters, values: values)
    }
  }

  /// The routes of a target's path. Nil for a path that fits no template.
  func find(_ target: String) -> Match? {
    var target = target
    return target.withUTF8 { bytes in
      find(bytes).map { node, values in Match(nodes[node].entries, values) }
    }
  }

  private func find(_ target: UnsafeBufferPointer<UInt8>) -> (node: Int, values: [String])? {
    let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    var (node, values, start) = (0, [String](), target.startIndex)
    while start < end {
      let stop = target[start..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
      let segment = target[start..<stop]
      start = stop + 1
      if segment.isEmpty { continue }
      if let next = nodes[node].literals.first(where: { Self.equal($0.text, segment) }) {
        node = next.node
      } else if let next = nodes[node].parameter {
        node = next
        values.append(String(decoding: segment, as: UTF8.self))
      } else if nodes[node].takesRest, let last = values.indices.last {
        values[last] += "/" + String(decoding: segment, as: UTF8.self)
      } else {
        return nil
      }
    }
    return (node, values)
  }

  private static func equal(_ text: [UInt8], _ segment: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    text.count == segment.count && text.elementsEqual(segment)
  }

  private mutating func add(_ route: Route) {
    var (node, parameters) = (0, [String]())
    for segment in route.template.utf8.split(separator: UInt8(ascii: "/")) {
      if segment.first == UInt8(ascii: "{") {
        parameters.append(String(decoding: segment.dropFirst().dropLast(), as: UTF8.self))
        node = nodes[node].parameter ?? append { $0[node].parameter = $1 }
      } else {
        let text = Array(segment)
        node =
          nodes[node].literals.first { $0.text == text }?.node
          ?? append { $0[node].literals.append((text, $1)) }
      }
    }
    nodes[node].entries.append(
      Entry(
        route: route, parameters: parameters,
        metrics: RequestMetrics(template: route.template)))
  }

  /// Adds a node below another one.
  private mutating func append(_ lead: (inout [Node], Int) -> Void) -> Int {
    lead(&nodes, nodes.count)
    nodes.append(Node())
    return nodes.count - 1
  }
}

/// The values of a path's parameters, percent-encoded as sent.
struct PathArguments: Sendable {
  let names: [String]
  let values: [String]

  /// A parameter's text; nil if the template has no parameter of that name.
  subscript(name: String) -> String? {
    for (known, value) in zip(names, values) where known == name { return value }
    return nil
  }
}
