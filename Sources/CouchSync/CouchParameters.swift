package import Documents

/// A request's parameters by name, as text: those of the query, percent-decoded, and those that `POST`
/// carries in its body. Of a name that comes twice the last value counts.
package struct CouchParameters: Sendable {
  private var values: [(name: String, value: String)]

  /// Parameters in their order.
  package init(_ values: [(name: String, value: String)] = []) { self.values = values }

  /// These parameters and, over them, a body's members: strings as their JSON where `quoted` names them,
  /// otherwise as they are.
  /// - Parameter quoted: parameters whose value in a query is JSON.
  func overlaid(by body: JSONNode, quoted: [String]) -> CouchParameters {
    var merged = self
    for member in body.members {
      let name = member.name
      let isQuoted = quoted.contains { $0.equalsBytes(of: name) }
      let text =
        member.value.string.flatMap { isQuoted ? nil : $0 }
        ?? String(decoding: member.value.minified, as: UTF8.self)
      merged.values.append((name, text))
    }
    return merged
  }

  /// A parameter's text; nil when absent.
  package subscript(name: String) -> String? {
    values.last { $0.name.equalsBytes(of: name) }?.value
  }

  /// A parameter that is `true` or `false`; absent it is `standard`.
  /// - Throws: 400 `query_parse_error`.
  package func flag(_ name: String, default standard: Bool = false) throws(CouchError) -> Bool {
    // In any case, as CouchDB reads them: Python's clients write True.
    switch self[name]?.lowercased() {
    case nil: return standard
    case "true": return true
    case "false": return false
    default: throw .badQuery("Invalid boolean parameter `\(name)`: it is `true` or `false`")
    }
  }

  /// A parameter that is a whole number from 0, written in digits; nil when absent.
  /// - Throws: 400 `query_parse_error`.
  package func count(_ name: String) throws(CouchError) -> Int? {
    guard let text = self[name] else { return nil }
    guard (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text)
    else { throw .badQuery("Invalid value for `\(name)`: it is a whole number from 0") }
    return count
  }

  /// A parameter that is JSON, under one of several names; nil when absent.
  /// - Throws: 400 `query_parse_error`.
  package func json(_ names: String...) throws(CouchError) -> JSONValue? {
    for name in names {
      guard let text = self[name] else { continue }
      do {
        return try JSONValue(parsing: Array(text.utf8), limits: .request)
      } catch {
        throw .badQuery("Invalid JSON in `\(name)`: \(error.reason)")
      }
    }
    return nil
  }

  /// A parameter that is a revision's id; nil when absent.
  /// - Throws: 400 `bad_request`.
  package func revision(_ name: String) throws(CouchError) -> RevisionID? {
    guard let text = self[name] else { return nil }
    do { return try RevisionID(text) } catch { throw CouchError(error) }
  }
}
