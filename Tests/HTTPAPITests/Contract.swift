import Documents
import Foundation
import HTTPTypes
import Yams

/// This repository's `openapi.yaml`, and a check of responses against it.
struct Contract: Sendable {
  /// The document with aliases and merge keys resolved.
  let document: JSONValue

  /// The contract, which is read once.
  static let shared = Result<Contract, any Error> { try Contract() }

  private static let methods: Set<String> = [
    "get", "put", "post", "delete", "patch", "head", "options", "trace",
  ]

  /// The prefix of an extension key for a method that OpenAPI does not know: `x-copy` for `COPY`.
  private static let extensionPrefix = "x-"

  private struct Unreadable: Error {
    let value: String
  }

  /// The text of the file.
  static func text() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "openapi.yaml"), encoding: .utf8)
  }

  private init() throws { try self.init(text: Self.text()) }

  init(text: String) throws { document = try Self.value(try Yams.load(yaml: text)) }

  /// Every operation, such as `GET /v1/me`.
  var operations: Set<String> {
    var operations: Set<String> = []
    for (template, item) in document["paths"]?.object?.members ?? [] {
      for (key, _) in item.object?.members ?? [] {
        if let method = Self.method(key) { operations.insert("\(method) \(template)") }
      }
    }
    return operations
  }

  /// An operation; nil if there is none.
  func operation(_ method: HTTPRequest.Method, _ template: String) -> JSONValue? {
    let name = method.rawValue.lowercased()
    let item = document["paths"]?[template]
    return item?[name] ?? item?[Self.extensionPrefix + name]
      ?? (name == "head" ? item?["get"] : nil)
  }

  /// The faults of a response; empty if the response is as documented.
  func faults(
    of reply: Reply, to method: HTTPRequest.Method, _ target: String
  ) -> [String] {
    if [204, 304].contains(reply.status) || method == .head, !reply.bytes.isEmpty {
      return ["it must have no body"]
    }
    let path = String(target.prefix { $0 != "?" })
    guard let template = template(of: path), let operation = operation(method, template) else {
      return undocumented(reply, method, path)
    }
    guard let response = operation["responses"]?[String(reply.status)] else {
      return ["the status is not documented: \(reply.text)"]
    }
    guard let content = resolve(response)["content"] else {
      return reply.bytes.isEmpty ? [] : ["a body is not documented"]
    }
    // It stands for the bytes of an attachment, whose type is its own.
    if content["application/octet-stream"] != nil { return [] }
    guard let type = reply.mediaType, let documented = content[type] else {
      return ["the type \(reply.mediaType ?? "none") is not documented"]
    }
    // In ndjson each line is a JSON text, so the body as a whole is not JSON.
    guard type.hasSuffix("json"), !type.hasSuffix("ndjson"), method != .head else { return [] }
    return SchemaCheck(document).faults(reply.bytes, documented["schema"] ?? [:])
  }

  /// Follows `$ref`.
  func resolve(_ value: JSONValue) -> JSONValue { SchemaCheck(document).resolve(value) }

  /// The faults of a response to a request that is no operation: it must be a problem that says so.
  private func undocumented(
    _ reply: Reply, _ method: HTTPRequest.Method, _ path: String
  ) -> [String] {
    if method == .options { return reply.status == 204 ? [] : ["OPTIONS must be 204"] }
    guard [400, 404, 405, 414].contains(reply.status) else { return ["it is not documented"] }
    if method == .head || path.hasPrefix("/couch") { return [] }
    // A person is shown the app.
    if method == .get, reply.status == 404, reply.mediaType == "text/html" { return [] }
    guard reply.mediaType == "application/problem+json" else { return ["it is no problem"] }
    return SchemaCheck(document).faults(
      reply.bytes, document["components"]?["schemas"]?["Problem"] ?? [:])
  }

  /// The template that a path matches. Templates with fewer parameters are tried first.
  private func template(of path: String) -> String? {
    let given = Self.segments(path)
    let fitting = (document["paths"]?.object?.members ?? []).map(\.name).filter { template in
      let wanted = Self.segments(template)
      return wanted.count == given.count
        && zip(wanted, given).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
    }
    return fitting.min { $0.count { $0 == "{" } < $1.count { $0 == "{" } }
  }

  private static func segments(_ path: String) -> [Substring] {
    var segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    if segments.last?.isEmpty == true { segments.removeLast() }
    return segments
  }

  private static func method(_ key: String) -> String? {
    if methods.contains(key) { return key.uppercased() }
    guard key.hasPrefix(extensionPrefix) else { return nil }
    return String(key.dropFirst(extensionPrefix.count)).uppercased()
  }

  private static func value(_ any: Any?) throws -> JSONValue {
    switch any {
    case nil, is NSNull: .null
    case let bool as Bool: .bool(bool)
    case let int as Int: .number(JSONNumber(int))
    case let text as String: .string(text)
    case let array as [Any]: .array(try array.map { try value($0) })
    case let map as [AnyHashable: Any]:
      .object(
        JSONObject(
          try map.map { ("\($0.key)", try value($0.value)) }.sorted { $0.0 < $1.0 }))
    default: throw Unreadable(value: String(describing: any))
    }
  }
}
