import Documents
import ICU

extension SelectorClause {
  /// Whether a value matches.
  /// - Parameter byBytes: whether strings are compared by bytes, as CouchDB does under `_id`.
  func matches(_ value: JSONNode, byBytes: Bool, _ budget: inout SelectorBudget) -> Bool {
    guard !budget.isSpent else { return false }
    switch self {
    case .all(let clauses):
      for clause in clauses where !clause.matches(value, byBytes: byBytes, &budget) { return false }
      return true
    case .any(let clauses):
      for clause in clauses where clause.matches(value, byBytes: byBytes, &budget) { return true }
      return clauses.isEmpty
    case .not(let clause):
      return !clause.matches(value, byBytes: byBytes, &budget)
    case .field(let path?, let condition):
      switch path.follow(in: value) {
      case .found(let found):
        return condition.matches(found, byBytes: byBytes || path.isID, &budget)
      case .missing: return condition.matchesMissing
      case .unreachable: return false
      }
    case .field(nil, let condition):
      return condition.matches(value, byBytes: byBytes, &budget)
    }
  }
}

extension SelectorCondition {
  /// Whether a value meets the condition.
  func matches(_ value: JSONNode, byBytes: Bool, _ budget: inout SelectorBudget) -> Bool {
    budget.step()
    switch self {
    case .compares(.equal, let other): return JSONCollation.areEqual(value, other)
    case .compares(.notEqual, let other): return !JSONCollation.areEqual(value, other)
    case .compares(let comparison, let other):
      return comparison.holds(
        byBytes ? JSONCollation.compareByBytes(value, other) : JSONCollation.compare(value, other))
    case .exists(let wanted): return wanted
    case .isType(let name): return name.equalsBytes(of: value.kind.selectorName)
    case .isIn(let values): return Self.isIn(values, value, &budget)
    case .isNotIn(let values): return !Self.isIn(values, value, &budget)
    case .containsAll(let values): return Self.containsAll(values, value, &budget)
    case .hasSize(let size): return value.kind == .array && size.int == value.count
    case .hasRemainder(let remainder): return value.number.map { remainder.matches($0) } ?? false
    case .matchesPattern(_, let pattern):
      guard let text = value.string else { return false }
      let match = pattern.matches(text, within: budget.patternTime)
      if match == .tooCostly { budget.spend() }
      return match == .matched
    case .beginsWith(let prefix): return value.string?.utf8.starts(with: prefix.utf8) ?? false
    case .not(let condition): return !condition.matches(value, byBytes: byBytes, &budget)
    case .hasElement, .hasOnlyElements, .hasName:
      return matchesParts(value, byBytes: byBytes, &budget)
    }
  }

  private func matchesParts(
    _ value: JSONNode, byBytes: Bool, _ budget: inout SelectorBudget
  ) -> Bool {
    switch self {
    case .hasElement(let clause):
      for element in value.elements where clause.matches(element, byBytes: byBytes, &budget) {
        return true
      }
      return false
    case .hasOnlyElements(let clause):
      for element in value.elements where !clause.matches(element, byBytes: byBytes, &budget) {
        return false
      }
      return value.kind == .array && value.count > 0
    case .hasName(let clause):
      for member in value.members {
        guard let name = member.nameNode else { continue }
        if clause.matches(name, byBytes: byBytes, &budget) { return true }
      }
      return false
    default: return false
    }
  }

  private static func isIn(
    _ values: SelectorValues, _ value: JSONNode, _ budget: inout SelectorBudget
  ) -> Bool {
    guard value.kind == .array else { return values.place(of: value) != nil }
    for element in value.elements {
      budget.step()
      if budget.isSpent { return false }
      if values.place(of: element) != nil { return true }
    }
    return false
  }

  private static func containsAll(
    _ values: SelectorValues, _ value: JSONNode, _ budget: inout SelectorBudget
  ) -> Bool {
    guard value.kind == .array, !values.sorted.isEmpty else { return false }
    if values.source.count == 1, JSONCollation.areEqual(values.sorted[0], value) { return true }
    var found = [Bool](repeating: false, count: values.sorted.count)
    var left = found.count
    for element in value.elements {
      budget.step()
      if budget.isSpent { return false }
      guard let place = values.place(of: element), !found[place] else { continue }
      found[place] = true
      left -= 1
      if left == 0 { return true }
    }
    return false
  }
}

extension JSONCollation {
  /// Compares as CouchDB does under `_id`: strings by their bytes, and behind everything else.
  /// Other values stand in CouchDB's order by type too, which no document's id ever has.
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

extension JSONNode.Kind {
  /// The kind's name for `$type`.
  var selectorName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension JSONMember {
  /// The name as a value, so that conditions can be asked of it.
  fileprivate var nameNode: JSONNode? {
    try? ParsedJSON(Array(rawName), limits: CouchLimits.bulk).root
  }
}
