package import Documents
import Stores

/// The parameters of a request by name, as text: those of the query, percent-decoded, and those in the body of a
/// `POST`. When a name occurs twice, the last value counts.
package struct CouchParameters: Sendable {
  private let values: [(name: String, value: String)]
  /// A body whose members are parameters too; ``values`` take precedence.
  private var body: JSONNode?

  /// Makes parameters in this order.
  package init(_ values: [(name: String, value: String)] = []) { self.values = values }

  /// Adds the members of a body as parameters; these parameters take precedence.
  func laid(over body: JSONNode) -> CouchParameters {
    var merged = self
    merged.body = body
    return merged
  }

  /// A parameter's text; nil when absent.
  package subscript(name: String) -> String? {
    given(name) ?? body?[name].map { $0.string ?? String(decoding: $0.minified, as: UTF8.self) }
  }

  /// Whether a parameter is in the query, not in a body.
  func isInQuery(_ name: String) -> Bool { given(name) != nil }

  private func given(_ name: String) -> String? {
    values.last { $0.name.equalsBytes(of: name) }?.value
  }

  /// Whether a parameter is `true`. Any other value is ignored, as CouchDB does with the parameters of a document,
  /// `_bulk_get` and `_changes`. Python's clients write `True`.
  package func isTrue(_ name: String) -> Bool { self[name]?.lowercased() == "true" }

  /// The same for `false`.
  package func isFalse(_ name: String) -> Bool { self[name]?.lowercased() == "false" }

  /// The value of a parameter of `_all_docs` that is `true` or `false`; `standard` when absent.
  /// - Throws: 400 `query_parse_error`.
  package func flag(_ name: String, default standard: Bool = false) throws -> Bool {
    // Upper and lower case, as in CouchDB: Python's clients write True.
    switch self[name]?.lowercased() {
    case nil: return standard
    case "true": return true
    case "false": return false
    default:
      throw ServiceError.badQuery("Invalid boolean parameter: \"\(self[name]?.prefix(64) ?? "")\"")
    }
  }

  /// The value of a parameter that is a whole number from 0, in digits; nil when absent.
  /// - Throws: 400 `query_parse_error`.
  package func count(_ name: String) throws -> Int? {
    guard let text = self[name] else { return nil }
    let digits = text.utf8.first == 0x2D ? text.utf8.dropFirst() : text.utf8[...]
    guard (1...18).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let count = Int(text)
    else { throw ServiceError.badQuery("Invalid value for integer: \"\(text.prefix(64))\"") }
    guard text.utf8.first != 0x2D else {
      throw ServiceError.badQuery("Invalid value for positive integer: \"\(text.prefix(64))\"")
    }
    return count
  }

  /// The value of a JSON parameter; nil when absent. If it comes under several of its names, the last one counts.
  /// - Throws: 400 `bad_request`.
  package func json(_ names: String...) throws -> JSONNode? {
    let last = values.last { pair in names.contains { $0.equalsBytes(of: pair.name) } }
    // Returns the member of the body without parsing it again, because it may be long.
    guard let (name, text) = last else {
      return body?.members.filter { member in names.contains { member.nameEquals($0) } }.last?.value
    }
    do { return try ParsedJSON(Array(text.utf8), limits: .request).root } catch {
      throw ServiceError.badRequest("Invalid JSON in `\(name)`: \(error.reason)")
    }
  }

  /// The value of a parameter that is a revision; nil when absent.
  /// - Throws: 400 `bad_request`.
  package func revision(_ name: String) throws -> RevisionID? {
    guard let text = self[name] else { return nil }
    return try RevisionID(text)
  }
}
