import CouchQuery
import JSON
import Stores
import TestSupport
import Testing

/// Whether a selector matches a document, both as JSON text.
func selects(_ selector: String, _ document: String) throws -> Bool {
  var budget = SelectorBudget()
  let matches = try Selector(json(selector)).matches(json(document), &budget)
  #expect(!budget.isSpent)
  return matches
}

/// Whether a selector matches a document, both as values.
func selects(_ selector: JSONValue, _ document: JSONValue) throws -> Bool {
  var budget = SelectorBudget()
  let matches = try Selector(node(selector)).matches(node(document), &budget)
  #expect(!budget.isSpent)
  return matches
}

/// A selector as `_explain` shows it.
func normalized(_ selector: String) throws -> String {
  String(decoding: try Selector(json(selector)).json.bytes, as: UTF8.self)
}

/// Parses a text.
func json(_ text: String) throws -> JSONNode {
  try ParsedJSON(Array(text.utf8), limits: .request).root
}

/// The status and error code of a refusal, such as `400 invalid_operator`; `none` for a success.
func refusal(_ call: () throws -> some Any) -> String {
  do {
    _ = try call()
    return "none"
  } catch {
    guard let error = ServiceError(error) else { return "another error" }
    return "400 \(error.code.rawValue)"
  }
}
