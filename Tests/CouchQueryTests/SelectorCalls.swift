import CouchQuery
import Documents
import Scheduling
import Stores
import TestSupport
import Testing

/// Whether a selector matches a document, both as JSON text. Matching stops after each step and continues.
func selects(_ selector: String, _ document: String) throws -> Bool {
  try selects(Selector(json(selector)), json(document))
}

/// Whether a selector matches a document, both as values.
func selects(_ selector: JSONValue, _ document: JSONValue) throws -> Bool {
  try selects(Selector(node(selector)), node(document))
}

private func selects(_ selector: Selector, _ document: JSONNode) -> Bool {
  var budget = SelectorBudget()
  var match = selector.match(document)
  while true {
    let isMatch = match.next(&budget, within: .shortest)
    #expect(!budget.isSpent)
    if let isMatch { return isMatch }
  }
}

/// A selector as `_explain` shows it.
func normalized(_ selector: String) throws -> String {
  String(decoding: try Selector(json(selector)).json.bytes, as: UTF8.self)
}

/// Parses a text.
func json(_ text: String) throws -> JSONNode {
  try ParsedJSON(Array(text.utf8), limits: .request).root
}

/// The code of a refusal, such as `invalidOperator`; `none` for a success.
func refusal(_ call: () throws -> some Any) -> String {
  do {
    _ = try call()
    return "none"
  } catch {
    guard let error = ServiceError(error) else { return "another error" }
    return "\(error.code)"
  }
}
