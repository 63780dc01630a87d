/// A selector or a part of one: a combination of clauses, or a condition on a field.
indirect enum SelectorClause: Sendable {
  /// Matches when all clauses match; also when there are none.
  case all([SelectorClause])
  /// Matches when one clause matches; also, as in CouchDB, when there are none.
  case any([SelectorClause])
  case not(SelectorClause)
  /// A condition on a field; without a path a condition on the value itself: an element of an array, or a name.
  case field(FieldPath?, SelectorCondition)

  /// The clause with negations moved inwards to the conditions, as in CouchDB. This changes which documents match,
  /// because most conditions and also their opposites require the field to exist.
  ///
  /// Source: `mango_selector:norm_negations`.
  var normalized: SelectorClause {
    switch self {
    case .all(let clauses): .all(clauses.map(\.normalized))
    case .any(let clauses): .any(clauses.map(\.normalized))
    case .not(let clause): clause.negated
    case .field: self
    }
  }

  private var negated: SelectorClause {
    switch self {
    case .all(let clauses): .any(clauses.map(\.negated))
    case .any(let clauses): .all(clauses.map(\.negated))
    case .not(let clause): clause.normalized
    case .field(let path, let condition): .field(path, condition.negated)
    }
  }
}
