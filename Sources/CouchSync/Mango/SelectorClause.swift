import Documents

/// A selector, or a part of one that stands for itself: clauses joined, and conditions on fields.
indirect enum SelectorClause: Sendable {
  /// Matches when all do; also when there are none.
  case all([SelectorClause])
  /// Matches when one does; also, as CouchDB has it, when there are none.
  case any([SelectorClause])
  /// Matches when the other does not.
  case not(SelectorClause)
  /// A condition on a field, or with no path on the value itself: an element of an array, a name.
  case field(FieldPath?, SelectorCondition)

  /// The same with negations moved inwards to the conditions, as CouchDB does: it changes which
  /// documents match, since most conditions and their opposites all want the field to be there.
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
