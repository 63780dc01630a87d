package import Documents

/// A query's conditions on documents, in CouchDB's selector language.
///
/// A condition on a field that a document lacks never holds, but for `$exists: false`; that is so
/// for `$ne`, `$nin` and under `$not` too. As in CouchDB an empty `$and` or `$or` holds.
///
/// Regular expressions are RE2's, which has not all of PCRE's constructs, and match characters,
/// where CouchDB matches bytes.
///
/// Source: CouchDB, "Mango: selectors"; `mango_selector.erl`.
package struct Selector: Sendable {
  /// The conditions; nil when there are none, and every document matches.
  let clause: SelectorClause?

  /// Reads a selector.
  /// - Throws: 400: `invalid_selector_json` for anything but an object, `bad_arg`,
  ///   `invalid_operator`, `not_supported`, `invalid_field_name`; `invalid_selector` for a
  ///   condition on no field, and a regular expression that is too large or has what RE2 does not
  ///   have; `bad_request` beyond ``SelectorLimits``.
  package init(_ node: JSONNode) throws(CouchError) {
    guard node.kind == .object else { throw .invalidSelector(node) }
    guard node.count > 0 else {
      clause = nil
      return
    }
    var parser = SelectorParser(node)
    let clause = try parser.clause(node, path: nil, depth: 0).normalized
    if case .field(nil, _) = clause { throw .missingFieldName }
    self.clause = clause
  }

  /// A selector of a part of another.
  init(_ clause: SelectorClause) { self.clause = clause }

  /// Whether every document matches.
  package var matchesAll: Bool { clause == nil }

  /// Begins to match a document, with its `_id`.
  package func match(_ root: JSONNode) -> SelectorMatch {
    SelectorMatch(clause, root)
  }

  /// Whether a document, with its `_id`, matches, found out without giving way. Once the budget is
  /// spent the answer means nothing.
  package func matches(_ root: JSONNode, _ budget: inout SelectorBudget) -> Bool {
    var match = match(root)
    while true {
      if let isMatch = match.next(&budget) { return isMatch }
    }
  }

  /// Whether every document that matches has the field.
  package func requires(_ field: FieldPath) -> Bool {
    clause?.requires(field) ?? false
  }

  /// The values that a field of a matching document can have: what the conditions that must all
  /// hold demand of it together. Nil if that is nothing that a range of values could say.
  package func bounds(of field: FieldPath) -> FieldBounds? {
    clause?.bounds(of: field)
  }

  /// The selector as it is understood, in the shape that CouchDB's `_explain` shows: operators
  /// explicit, names of nested fields joined, negations moved inwards. It reads as the same
  /// selector again.
  package var json: JSONValue {
    clause?.json ?? .object(JSONObject())
  }
}
