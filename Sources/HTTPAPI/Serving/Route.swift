import Accounts
package import HTTPTypes
import Hummingbird

/// One operation: a method, a path template, who may call it, and its handler. Each function that makes a route states
/// who may call it.
package struct Route: Sendable {
  /// Who may call an operation.
  package enum Access: String, Sendable {
    /// Anybody; credentials are ignored.
    case open
    /// Anybody; credentials are optional, but have to be valid. A cookie whose session has ended counts as none.
    case anyone
    /// A guest or a user, who have a store of their own.
    case person
    /// A guest, a user or the administrator.
    case signedIn
    /// The administrator; for everybody else the path appears absent.
    case administrator
  }

  /// What is kept of the answers to requests with an idempotency key, and for receipts.
  package enum Keeping: Sendable {
    /// Nothing: the header fields of ``WriteOptions`` have no effect.
    case nothing
    /// That the write was carried out, without the answer's body, which is a secret. The client waits for the answer.
    case deed
    /// The answer. The client need not wait for it.
    case answer
  }

  typealias OpenHandler = @Sendable (Call) async throws -> Response
  typealias AnyoneHandler = @Sendable (Call, Principal?) async throws -> Response
  typealias PersonHandler = @Sendable (Call, Principal) async throws -> Response

  enum Handler: Sendable {
    case open(OpenHandler)
    case anyone(AnyoneHandler)
    case person(PersonHandler)
    case signedIn(PersonHandler)
    case administrator(PersonHandler)
  }

  /// The method.
  package let method: HTTPRequest.Method
  /// The path with its parameters in braces, as in `openapi.yaml`.
  package let template: String
  let handler: Handler
  /// What is kept of its answers.
  package let keeping: Keeping

  /// Who may call it.
  package var access: Access {
    switch handler {
    case .open: .open
    case .anyone: .anyone
    case .person: .person
    case .signedIn: .signedIn
    case .administrator: .administrator
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
    _ method: HTTPRequest.Method, _ template: String, keeping: Keeping = .nothing,
    _ handler: @escaping PersonHandler
  ) -> Route {
    Route(method: method, template: template, handler: .person(handler), keeping: keeping)
  }

  static func signedIn(
    _ method: HTTPRequest.Method, _ template: String, _ handler: @escaping PersonHandler
  ) -> Route {
    Route(method: method, template: template, handler: .signedIn(handler))
  }

  static func administrator(
    _ method: HTTPRequest.Method, _ template: String, _ handler: @escaping PersonHandler
  ) -> Route {
    Route(method: method, template: template, handler: .administrator(handler))
  }

  /// Whether it changes the caller's data. Ending the caller's own credentials does not count.
  var isWrite: Bool {
    ![.get, .head].contains(method)
      && !Self.endingCredentials.contains { $0.method == method && $0.template == template }
  }

  private static let endingCredentials: [(method: HTTPRequest.Method, template: String)] = [
    (.delete, "/v1/me"), (.delete, "/v1/sessions"), (.put, "/v1/me/password"),
  ]

  /// Whether its steps belong together, such as signing up with a guest's bookmarks or erasing an account. It is
  /// finished even if its client has gone.
  let mustFinish: Bool

  private static let accountTemplates = [
    "/v1/me", "/v1/users", "/v1/sessions", "/v1/password-resets",
  ]

  /// The path of an import.
  static let importTemplate = "/v1/me/import"

  private init(
    method: HTTPRequest.Method, template: String, handler: Handler, keeping: Keeping = .nothing
  ) {
    self.method = method
    self.template = template
    self.handler = handler
    self.keeping = keeping
    // An import ends with its client; only its last step has to be finished.
    mustFinish =
      ![.get, .head].contains(method) && template != Self.importTemplate
      && (Self.accountTemplates.contains { template.hasPrefix($0) }
        || Self.hasSteps(list: template))
  }

  /// Whether a write changes a list's members, ends a list or publishes a draft. Such a write uses several stores.
  private static func hasSteps(list template: String) -> Bool {
    guard template.hasPrefix("/v1/lists") || template.hasPrefix("/v1/invitations") else {
      return false
    }
    return template.hasSuffix("/publish")
      || !["/bookmarks", "/notes", "/documents"].contains { template.contains($0) }
  }

  /// Whether the route's template matches a path (percent-encoded, checked).
  func matches(_ path: String) -> Bool {
    let wanted = template.utf8.split(separator: UInt8(ascii: "/"))
    let given = path.utf8.split(separator: UInt8(ascii: "/"))
    guard wanted.count == given.count else { return false }
    return zip(wanted, given).allSatisfy { want, got in
      want.first == UInt8(ascii: "{") || want.elementsEqual(got)
    }
  }

  /// The number of parameters in its path. If two routes match a path, the one with fewer parameters is used.
  var parameterCount: Int { template.utf8.count { $0 == UInt8(ascii: "{") } }
}

/// Finds the route of a request by the bytes of its path as sent.
///
/// A literal segment has priority over a parameter at the same position, without backtracking. Empty segments are
/// ignored here; where `//` is not allowed, it is refused earlier.
struct RouteTable: Sendable {
  /// A route with its parameter names and metrics.
  struct Entry: Sendable {
    /// The route.
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
  }

  private var nodes = [Node()]

  /// A table of routes, no two of which have the same method and template.
  init(_ routes: [Route]) {
    for route in routes { add(route) }
  }

  /// The route for a method and a target; the route of `GET` for `HEAD`. Nil if there is none.
  func find(_ method: HTTPRequest.Method, _ target: String) -> (Entry, PathArguments)? {
    var target = target
    return target.withUTF8 { bytes in
      guard let (node, values) = find(bytes) else { return nil }
      let entries = nodes[node].entries
      let entry =
        entries.first { $0.route.method == method }
        ?? (method == .head ? entries.first { $0.route.method == .get } : nil)
      return entry.map { ($0, PathArguments(names: $0.parameters, values: values)) }
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
