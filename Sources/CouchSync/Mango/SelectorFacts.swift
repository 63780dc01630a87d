import Documents

/// What a selector's conditions say of single fields, beside ``Selector/bounds(of:)``.
struct SelectorFacts {
  /// Every field that is named anywhere, each once, in order.
  private(set) var fields: [FieldPath] = []
  /// Whether a condition is on the document itself, such as one on its names.
  private(set) var asksOfDocument = false
  /// The values of the shortest `$in` that every matching document's id is in, if there is one.
  private(set) var ids: SelectorValues?

  /// Reads a selector.
  init(_ selector: Selector) {
    if let clause = selector.clause { read(clause, isRequired: true) }
  }

  private mutating func read(_ clause: SelectorClause, isRequired: Bool) {
    switch clause {
    case .all(let clauses): for clause in clauses { read(clause, isRequired: isRequired) }
    case .any(let clauses): for clause in clauses { read(clause, isRequired: false) }
    case .not(let clause): read(clause, isRequired: false)
    case .field(nil, _): asksOfDocument = true
    case .field(let field?, let condition):
      if !fields.contains(field) { fields.append(field) }
      guard isRequired, field.isID, case .isIn(let values) = condition else { return }
      if ids.map({ values.sorted.count < $0.sorted.count }) ?? true { ids = values }
    }
  }
}
