package import Documents
import Scheduling
import Stores

/// A query's conditions on documents, in CouchDB's selector language.
///
/// A condition on a field that a document lacks is always false, except `$exists: false`. This applies to `$ne`, `$nin`
/// and conditions under `$not` too. As in CouchDB, an empty `$and` or `$or` is true.
///
/// Regular expressions are those of RE2, which lacks some of PCRE's constructs. They match characters, where CouchDB
/// matches bytes.
///
/// Source: CouchDB, "Mango: selectors"; `mango_selector.erl`.
package struct Selector: Sendable {
  /// The conditions; nil when there are none, so that every document matches.
  let clause: SelectorClause?

  /// Reads a selector.
  /// - Throws: 400: `invalid_selector_json` for anything but an object, `bad_arg`, `invalid_operator`, `not_supported`,
  ///   `invalid_field_name`; `invalid_selector` for a condition without a field, and for a regular expression that is
  ///   too large or has a construct that RE2 lacks; `bad_request` when it exceeds ``SelectorLimits``.
  package init(_ node: JSONNode) throws {
    guard node.kind == .object else { throw ServiceError.invalidSelector(node) }
    guard node.count > 0 else {
      clause = nil
      return
    }
    var parser = try SelectorParser(node)
    let clause = try parser.clause(node, path: nil, depth: 0).normalized
    if case .field(nil, _) = clause { throw ServiceError.missingFieldName }
    self.clause = clause
  }

  init(_ clause: SelectorClause) { self.clause = clause }

  package var matchesAll: Bool { clause == nil }

  /// Whether the selector is only an empty `$and` or `$or`, also negated. It matches every document, but as in CouchDB a
  /// query with it returns none.
  ///
  /// Source: `mango_cursor:maybe_noop_range`.
  var isEmptyList: Bool {
    switch clause {
    case .all(let clauses), .any(let clauses): clauses.isEmpty
    case .not, .field, nil: false
    }
  }

  /// Begins to match a document, with its `_id`.
  package func match(_ root: JSONNode) -> SelectorMatch { SelectorMatch(clause, root) }

  /// Whether a document, with its `_id`, matches, without giving way. Once the budget is spent the result is invalid.
  package func matches(_ root: JSONNode, _ budget: inout SelectorBudget) -> Bool {
    var match = match(root)
    while true {
      if let isMatch = match.next(&budget, within: .endless) { return isMatch }
    }
  }

  /// Whether every document that a query returns has the field. An empty `$or` alone returns none.
  package func requires(_ field: FieldPath) -> Bool {
    if case .any(let clauses)? = clause, clauses.isEmpty { return true }
    return clause?.requires(field) ?? false
  }

  /// The values that a field of a matching document can have, from the conditions that must all be true. Nil when they
  /// give no range.
  package func bounds(of field: FieldPath) -> FieldBounds? { clause?.bounds(of: field) }

  /// The selector in its normal form, as CouchDB's `_explain` shows it: operators explicit, names of nested fields
  /// joined, negations moved inwards. Parsing it gives the same selector again.
  package var json: JSONValue { clause?.json ?? .object(JSONObject()) }

  /// The selector with its long lists sorted; gives way in between. A selector that is matched without this sorts them
  /// again for each value.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  package func prepared() async throws -> Selector {
    guard let clause else { return self }
    return Selector(try await clause.prepared())
  }
}

extension SelectorClause {
  /// Whether a value matches, when the clause is one condition that is quickly tested; nil for any other clause.
  /// - Parameter byBytes: whether strings are compared by bytes, as CouchDB does under `_id`.
  func matchesAtOnce(_ value: JSONNode, byBytes: Bool) -> Bool? {
    guard case .field(let path, let condition) = self else { return nil }
    switch condition.subject(at: path, in: value) {
    case .known(let isMatch): return isMatch
    case .value(let found):
      return condition.matchesAtOnce(found, byBytes: byBytes || (path?.isID ?? false))
    }
  }

  /// The clause as `_explain` shows it.
  var json: JSONValue {
    switch self {
    case .all(let clauses): ["$and": .array(clauses.map(\.json))]
    case .any(let clauses): ["$or": .array(clauses.map(\.json))]
    case .not(let clause): ["$not": clause.json]
    case .field(let path, let condition): .object([path?.text ?? "": condition.json])
    }
  }

  fileprivate func prepared() async throws -> SelectorClause {
    switch self {
    case .all(let clauses): .all(try await Self.prepared(clauses))
    case .any(let clauses): .any(try await Self.prepared(clauses))
    case .not(let clause): .not(try await clause.prepared())
    case .field(let path, let condition): .field(path, try await condition.prepared())
    }
  }

  private static func prepared(_ clauses: [SelectorClause]) async throws -> [SelectorClause] {
    var prepared: [SelectorClause] = []
    for clause in clauses { prepared.append(try await clause.prepared()) }
    return prepared
  }
}

extension SelectorCondition {
  /// What a condition on a field is tested on.
  enum Subject {
    case value(JSONNode)
    /// No value, because the field is absent; this is the result.
    case known(Bool)
  }

  /// What the condition is tested on; without a path the value itself.
  func subject(at path: FieldPath?, in value: JSONNode) -> Subject {
    guard let path else { return .value(value) }
    switch path.follow(in: value) {
    case .found(let found): return .value(found)
    case .missing: return .known(matchesMissing)
    case .unreachable: return .known(false)
    }
  }

  /// Whether a value meets the condition, when that is quickly tested; nil for regular expressions and for conditions
  /// that go through an array or an object.
  func matchesAtOnce(_ value: JSONNode, byBytes: Bool) -> Bool? {
    switch self {
    case .compares(.equal, let other): return JSONCollation.areEqual(value, other)
    case .compares(.notEqual, let other): return !JSONCollation.areEqual(value, other)
    case .compares(let comparison, let other):
      return comparison.holds(
        byBytes ? JSONCollation.compareByBytes(value, other) : JSONCollation.compare(value, other))
    case .exists(let wanted): return wanted
    case .isType(let name): return name.equalsBytes(of: value.kind.rawValue)
    case .isIn(let values): return value.kind == .array ? nil : values.index(of: value) != nil
    case .hasSize(let size): return value.kind == .array && size.int == value.count
    case .hasRemainder(let remainder): return value.number.map { remainder.matches($0) } ?? false
    case .beginsWith(let prefix): return value.string?.utf8.starts(with: prefix.utf8) ?? false
    case .not(let condition): return condition.matchesAtOnce(value, byBytes: byBytes).map { !$0 }
    case .containsAll, .matchesPattern, .hasElement, .hasOnlyElements, .hasName: return nil
    }
  }

  /// The condition as `_explain` shows it.
  var json: JSONValue {
    switch self {
    case .compares(let comparison, let value): .object([comparison.rawValue: value.value])
    case .exists(let wanted): ["$exists": .bool(wanted)]
    case .isType(let name): ["$type": .string(name)]
    case .isIn(let values): ["$in": values.source.value]
    case .containsAll(let values): ["$all": values.source.value]
    case .hasSize(let size): ["$size": .number(size)]
    case .hasRemainder(let remainder): ["$mod": remainder.source.value]
    case .matchesPattern(let text, _): ["$regex": .string(text)]
    case .beginsWith(let prefix): ["$beginsWith": .string(prefix)]
    case .hasElement(let clause): ["$elemMatch": clause.json]
    case .hasOnlyElements(let clause): ["$allMatch": clause.json]
    case .hasName(let clause): ["$keyMapMatch": clause.json]
    case .not(.isIn(let values)): ["$nin": values.source.value]
    case .not(let condition): ["$not": condition.json]
    }
  }

  fileprivate func prepared() async throws -> SelectorCondition {
    switch self {
    case .isIn(let values): .isIn(try await values.prepared())
    case .containsAll(let values): .containsAll(try await values.prepared())
    case .hasElement(let clause): .hasElement(try await clause.prepared())
    case .hasOnlyElements(let clause): .hasOnlyElements(try await clause.prepared())
    case .hasName(let clause): .hasName(try await clause.prepared())
    case .not(let condition): .not(try await condition.prepared())
    case .compares, .exists, .isType, .hasSize, .hasRemainder, .matchesPattern, .beginsWith: self
    }
  }
}

extension JSONCollation {
  /// Compares as CouchDB does under `_id`: strings by their bytes, and after all other values. Other values are
  /// compared as usual; no document's id has such a value.
  static func compareByBytes(_ left: JSONNode, _ right: JSONNode) -> Int {
    switch (left.string, right.string) {
    case (let left?, let right?):
      left.equalsBytes(of: right) ? 0 : left.precedesBytes(of: right) ? -1 : 1
    case (_?, nil): 1
    case (nil, _?): -1
    case (nil, nil): compare(left, right)
    }
  }
}
