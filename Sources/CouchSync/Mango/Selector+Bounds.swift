import Documents

extension SelectorClause {
  /// Whether whatever matches has the field.
  func requires(_ field: FieldPath) -> Bool {
    switch self {
    case .all(let clauses): clauses.contains { $0.requires(field) }
    case .any(let clauses): !clauses.isEmpty && clauses.allSatisfy { $0.requires(field) }
    case .not: false
    case .field(let path?, let condition): !condition.matchesMissing && field.leads(to: path)
    case .field(nil, _): false
    }
  }

  /// The values that the field has in whatever matches; see ``Selector/bounds(of:)``.
  func bounds(of field: FieldPath) -> FieldBounds? {
    switch self {
    case .all(let clauses):
      return clauses.reduce(nil) { bounds, clause in
        guard let more = clause.bounds(of: field) else { return bounds }
        return bounds?.intersection(more) ?? more
      }
    case .any(let clauses):
      guard var bounds = clauses.first?.bounds(of: field) else { return nil }
      for clause in clauses.dropFirst() {
        guard let more = clause.bounds(of: field), let hull = bounds.hull(more) else { return nil }
        bounds = hull
      }
      return bounds
    case .field(let path?, let condition) where path == field:
      return path.isID ? condition.idBounds : condition.bounds
    case .field, .not:
      return nil
    }
  }
}

extension SelectorCondition {
  /// The values that meet the condition, in the order of ``JSONCollation``.
  fileprivate var bounds: FieldBounds? {
    switch self {
    case .compares(let comparison, let value): comparison.bounds(value, isByBytes: false)
    case .isType(let name): SelectorKinds.bounds(ofType: name)
    case .isIn(let values): Self.bounds(ofList: values)
    case .containsAll, .hasSize, .hasElement, .hasOnlyElements: SelectorKinds.arrays
    case .hasName: SelectorKinds.objects
    case .hasRemainder: SelectorKinds.numbers
    case .matchesPattern: SelectorKinds.strings
    case .beginsWith(let prefix): SelectorPrefix.bounds(prefix)
    case .exists, .isNotIn, .not: nil
    }
  }

  /// The ids that meet the condition, in the order of their bytes. Only strings bound them.
  fileprivate var idBounds: FieldBounds? {
    switch self {
    case .compares(let comparison, let value) where value.kind == .string:
      return comparison.bounds(value, isByBytes: true)
    case .isIn(let values):
      let ids = values.sorted.filter { $0.kind == .string }
      return FieldBounds(
        lower: ids.min { JSONCollation.compareByBytes($0, $1) < 0 },
        upper: ids.max { JSONCollation.compareByBytes($0, $1) < 0 }, isByBytes: true)
    case .beginsWith(let prefix):
      return SelectorPrefix.idBounds(prefix)
    default:
      return nil
    }
  }

  /// What `$in` lets through: a value between the least and the greatest of the list, or an array,
  /// whose elements are what is looked up then.
  private static func bounds(ofList values: SelectorValues) -> FieldBounds? {
    guard let first = values.sorted.first, let last = values.sorted.last else { return nil }
    let listed = FieldBounds(lower: first, upper: last)
    guard let listed, let arrays = SelectorKinds.arrays else { return nil }
    return listed.hull(arrays)
  }
}

extension SelectorComparison {
  /// The values of which the comparison holds.
  fileprivate func bounds(_ value: JSONNode, isByBytes: Bool) -> FieldBounds? {
    switch self {
    case .less:
      FieldBounds(lower: nil, upper: value, includesUpper: false, isByBytes: isByBytes)
    case .lessOrEqual: FieldBounds(lower: nil, upper: value, isByBytes: isByBytes)
    case .equal: FieldBounds(lower: value, upper: value, isByBytes: isByBytes)
    case .notEqual: nil
    case .greaterOrEqual: FieldBounds(lower: value, upper: nil, isByBytes: isByBytes)
    case .greater:
      FieldBounds(lower: value, includesLower: false, upper: nil, isByBytes: isByBytes)
    }
  }
}
