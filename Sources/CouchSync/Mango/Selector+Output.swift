import Documents

extension SelectorClause {
  /// The clause as `_explain` shows it.
  var json: JSONValue {
    switch self {
    case .all(let clauses): ["$and": .array(clauses.map(\.json))]
    case .any(let clauses): ["$or": .array(clauses.map(\.json))]
    case .not(let clause): ["$not": clause.json]
    case .field(let path, let condition): .object([path?.text ?? "": condition.json])
    }
  }
}

extension SelectorCondition {
  /// The condition as `_explain` shows it.
  var json: JSONValue {
    switch self {
    case .compares(let comparison, let value): .object([comparison.rawValue: value.value])
    case .exists(let wanted): ["$exists": .bool(wanted)]
    case .isType(let name): ["$type": .string(name)]
    case .isIn(let values): ["$in": values.source.value]
    case .isNotIn(let values): ["$nin": values.source.value]
    case .containsAll(let values): ["$all": values.source.value]
    case .hasSize(let size): ["$size": .number(size)]
    case .hasRemainder(let remainder): ["$mod": remainder.source.value]
    case .matchesPattern(let text, _): ["$regex": .string(text)]
    case .beginsWith(let prefix): ["$beginsWith": .string(prefix)]
    case .hasElement(let clause): ["$elemMatch": clause.json]
    case .hasOnlyElements(let clause): ["$allMatch": clause.json]
    case .hasName(let clause): ["$keyMapMatch": clause.json]
    case .not(let condition): ["$not": condition.json]
    }
  }
}
