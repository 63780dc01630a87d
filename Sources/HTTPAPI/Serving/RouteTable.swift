import HTTPTypes
import Hummingbird

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

  /// The routes of all templates that a path's segments fit; ``find(_:)`` finds those of one of them.
  func routes(at segments: [Substring]) -> [Route] {
    var found: [Route] = []
    collect(segments[...], below: 0, into: &found)
    return found
  }

  private func collect(
    _ segments: ArraySlice<Substring>, below index: Int, into found: inout [Route]
  ) {
    let node = nodes[index]
    found += node.entries.map(\.route).filter { segments.isEmpty || $0.takesRest }
    guard let segment = segments.first else { return }
    let literal = node.literals.first { segment.utf8.elementsEqual($0.text) }?.node
    for next in [literal, node.parameter].compactMap(\.self) {
      collect(segments.dropFirst(), below: next, into: &found)
    }
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
