import Documents

extension Selector {
  /// The same with its long lists put in order, with pauses for others: a selector that is matched without that does
  /// it anew for each value.
  /// - Throws: 503 when nobody waits for the answer any more.
  package func prepared() async throws(CouchError) -> Selector {
    guard let clause else { return self }
    return Selector(try await clause.prepared())
  }
}

extension SelectorClause {
  fileprivate func prepared() async throws(CouchError) -> SelectorClause {
    switch self {
    case .all(let clauses): .all(try await Self.prepared(clauses))
    case .any(let clauses): .any(try await Self.prepared(clauses))
    case .not(let clause): .not(try await clause.prepared())
    case .field(let path, let condition): .field(path, try await condition.prepared())
    }
  }

  private static func prepared(
    _ clauses: [SelectorClause]
  ) async throws(CouchError) -> [SelectorClause] {
    var prepared: [SelectorClause] = []
    for clause in clauses { prepared.append(try await clause.prepared()) }
    return prepared
  }
}

extension SelectorCondition {
  fileprivate func prepared() async throws(CouchError) -> SelectorCondition {
    switch self {
    case .isIn(let values): .isIn(try await values.prepared())
    case .isNotIn(let values): .isNotIn(try await values.prepared())
    case .containsAll(let values): .containsAll(try await values.prepared())
    case .hasElement(let clause): .hasElement(try await clause.prepared())
    case .hasOnlyElements(let clause): .hasOnlyElements(try await clause.prepared())
    case .hasName(let clause): .hasName(try await clause.prepared())
    case .not(let condition): .not(try await condition.prepared())
    case .compares, .exists, .isType, .hasSize, .hasRemainder, .matchesPattern, .beginsWith: self
    }
  }
}
