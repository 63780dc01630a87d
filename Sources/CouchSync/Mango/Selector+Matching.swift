import Documents

extension SelectorClause {
  /// Whether a value matches, where that takes one condition that is soon found out; nil for any other.
  /// - Parameter byBytes: whether strings are compared by bytes, as CouchDB does under `_id`.
  func matchesAtOnce(_ value: JSONNode, byBytes: Bool) -> Bool? {
    guard case .field(let path, let condition) = self else { return nil }
    switch condition.subject(at: path, in: value) {
    case .known(let isMatch): return isMatch
    case .value(let found):
      return condition.matchesAtOnce(found, byBytes: byBytes || (path?.isID ?? false))
    }
  }
}

extension SelectorCondition {
  /// What a condition on a field has to look at.
  enum Subject {
    /// A value.
    case value(JSONNode)
    /// Nothing, for the field is not there; this is the answer.
    case known(Bool)
  }

  /// What the condition on a field looks at; with no path the value itself.
  func subject(at path: FieldPath?, in value: JSONNode) -> Subject {
    guard let path else { return .value(value) }
    switch path.follow(in: value) {
    case .found(let found): return .value(found)
    case .missing: return .known(matchesMissing)
    case .unreachable: return .known(false)
    }
  }

  /// Whether a value meets the condition, where that is soon found out; nil for regular expressions and
  /// for whatever goes through an array or an object.
  func matchesAtOnce(_ value: JSONNode, byBytes: Bool) -> Bool? {
    switch self {
    case .compares(.equal, let other): return JSONCollation.areEqual(value, other)
    case .compares(.notEqual, let other): return !JSONCollation.areEqual(value, other)
    case .compares(let comparison, let other):
      return comparison.holds(
        byBytes ? JSONCollation.compareByBytes(value, other) : JSONCollation.compare(value, other))
    case .exists(let wanted): return wanted
    case .isType(let name): return name.equalsBytes(of: value.kind.selectorName)
    case .isIn(let values): return value.kind == .array ? nil : values.place(of: value) != nil
    case .isNotIn(let values): return value.kind == .array ? nil : values.place(of: value) == nil
    case .hasSize(let size): return value.kind == .array && size.int == value.count
    case .hasRemainder(let remainder): return value.number.map { remainder.matches($0) } ?? false
    case .beginsWith(let prefix): return value.string?.utf8.starts(with: prefix.utf8) ?? false
    case .not(let condition): return condition.matchesAtOnce(value, byBytes: byBytes).map { !$0 }
    case .containsAll, .matchesPattern, .hasElement, .hasOnlyElements, .hasName: return nil
    }
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
