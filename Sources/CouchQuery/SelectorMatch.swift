package import Documents
package import Scheduling
import Text

/// The state of matching a document against a selector. The remaining work is on a stack, so that matching can stop
/// between any two conditions, elements of an array or parts of a long text, and can continue there.
package struct SelectorMatch: Sendable {
  /// A piece of work. The frame below it on the stack uses its result, in ``answer``.
  private enum Frame {
    case clause(SelectorClause, JSONNode, byBytes: Bool)
    /// Whether all clauses match, or any; and how many of them have been examined.
    case clauses([SelectorClause], JSONNode, byBytes: Bool, wantsAll: Bool, done: Int)
    case negation
    /// Whether all elements of an array match, or any.
    case elements(JSONElements, SelectorClause, byBytes: Bool, wantsAll: Bool)
    /// Whether any name of an object matches.
    case names(JSONMembers, SelectorClause, byBytes: Bool)
    /// Whether any element of an array is in a list of values.
    case list(JSONElements, SelectorValues)
    /// Whether an array contains all values of a list; which were found, and how many were not.
    case all(JSONElements, SelectorValues, found: [Bool], missing: Int)
    /// A search for a regular expression in a text.
    case search(RegularExpressionSearch)
  }

  /// How many elements are examined before the next check whether the slice is over.
  private static let elementsAtOnce = 32

  private var stack: [Frame] = []
  /// The last result; nil when there is none.
  private var answer: Bool?

  /// Makes the state before the first step.
  /// - Parameter clause: nil for a selector that matches everything.
  init(_ clause: SelectorClause?, _ root: JSONNode) {
    if let clause {
      stack.append(.clause(clause, root, byBytes: false))
    } else {
      answer = true
    }
  }

  /// Continues until the slice is over, by at least one step.
  /// - Returns: whether the document matches, which is invalid once the budget is spent; nil when more steps are
  ///   needed.
  package mutating func next(_ budget: inout SelectorBudget, within slice: Slice) -> Bool? {
    budget.begin()
    defer { budget.finish() }
    budget.step()
    while let frame = stack.popLast() {
      step(frame, &budget)
      budget.step()
      if budget.isSpent { return false }
      if slice.isOver, !stack.isEmpty { return nil }
    }
    return answer ?? false
  }

  private mutating func step(_ frame: Frame, _ budget: inout SelectorBudget) {
    switch frame {
    case .clause(let clause, let value, let byBytes):
      begin(clause, value, byBytes, budget.patternLimit)
    case .clauses(let clauses, let value, let byBytes, let wantsAll, let done):
      go(on: clauses, value, byBytes, wantsAll, done)
    case .negation: answer = answer.map { !$0 }
    case .elements(let elements, let clause, let byBytes, let wantsAll):
      go(through: elements, clause, byBytes, wantsAll)
    case .names(var members, let clause, let byBytes):
      if answer == true { return }
      guard let name = members.next()?.nameNode else { return answer = false }
      stack.append(.names(members, clause, byBytes: byBytes))
      ask(clause, name, byBytes)
    case .list(let elements, let values): look(through: elements, values)
    case .all(let elements, let values, let found, let missing):
      look(through: elements, values, found, missing)
    case .search(var search):
      switch search.next() {
      case .matched?: answer = true
      case .notMatched?: answer = false
      case .tooCostly?: budget.isSpent = true
      case nil: stack.append(.search(search))
      }
    }
  }

  /// Determines whether a value matches, at once or in the next step.
  private mutating func ask(_ clause: SelectorClause, _ value: JSONNode, _ byBytes: Bool) {
    answer = clause.matchesAtOnce(value, byBytes: byBytes)
    if answer == nil { stack.append(.clause(clause, value, byBytes: byBytes)) }
  }

  // MARK: Starting a clause or condition

  private mutating func begin(
    _ clause: SelectorClause, _ value: JSONNode, _ byBytes: Bool, _ limit: Duration
  ) {
    answer = nil
    switch clause {
    case .all(let clauses):
      stack.append(.clauses(clauses, value, byBytes: byBytes, wantsAll: true, done: 0))
    case .any(let clauses):
      stack.append(.clauses(clauses, value, byBytes: byBytes, wantsAll: false, done: 0))
    case .not(let clause): stack += [.negation, .clause(clause, value, byBytes: byBytes)]
    case .field(let path, let condition):
      switch condition.subject(at: path, in: value) {
      case .known(let isMatch): answer = isMatch
      case .value(let found): begin(condition, found, byBytes || (path?.isID ?? false), limit)
      }
    }
  }

  private mutating func begin(
    _ condition: SelectorCondition, _ value: JSONNode, _ byBytes: Bool, _ limit: Duration
  ) {
    answer = condition.matchesAtOnce(value, byBytes: byBytes)
    guard answer == nil else { return }
    switch condition {
    case .matchesPattern(_, let expression):
      guard let text = value.string else { return answer = false }
      stack.append(.search(RegularExpressionSearch(expression, in: text, within: limit)))
    case .hasElement(let clause):
      stack.append(.elements(value.elements, clause, byBytes: byBytes, wantsAll: false))
    case .hasOnlyElements(let clause):
      guard value.count > 0, value.kind == .array else { return answer = false }
      stack.append(.elements(value.elements, clause, byBytes: byBytes, wantsAll: true))
    case .hasName(let clause): stack.append(.names(value.members, clause, byBytes: byBytes))
    case .isIn(let values): stack.append(.list(value.elements, values))
    case .containsAll(let values):
      let isOne =
        values.source.count == 1
        && values.sorted.first.map { JSONCollation.areEqual($0, value) } ?? false
      guard value.kind == .array, !values.sorted.isEmpty, !isOne else {
        return answer = isOne && value.kind == .array
      }
      let count = values.sorted.count
      stack.append(
        .all(value.elements, values, found: [Bool](repeating: false, count: count), missing: count))
    case .not(let condition):
      stack += [.negation, .clause(.field(nil, condition), value, byBytes: byBytes)]
    case .compares, .exists, .isType, .hasSize, .hasRemainder, .beginsWith: answer = false
    }
  }

  // MARK: Continuing a frame

  private mutating func go(
    on clauses: [SelectorClause], _ value: JSONNode, _ byBytes: Bool, _ wantsAll: Bool, _ done: Int
  ) {
    if let answer, answer != wantsAll { return }
    // Without clauses the result is true, also for `$or`.
    guard done < clauses.count else { return answer = wantsAll || clauses.isEmpty }
    stack.append(.clauses(clauses, value, byBytes: byBytes, wantsAll: wantsAll, done: done + 1))
    ask(clauses[done], value, byBytes)
  }

  private mutating func go(
    through elements: JSONElements, _ clause: SelectorClause, _ byBytes: Bool, _ wantsAll: Bool
  ) {
    var elements = elements
    for _ in 0..<Self.elementsAtOnce {
      if let answer, answer != wantsAll { return }
      guard let element = elements.next() else { return answer = wantsAll }
      guard let isMatch = clause.matchesAtOnce(element, byBytes: byBytes) else {
        answer = nil
        stack += [
          .elements(elements, clause, byBytes: byBytes, wantsAll: wantsAll),
          .clause(clause, element, byBytes: byBytes),
        ]
        return
      }
      answer = isMatch
    }
    stack.append(.elements(elements, clause, byBytes: byBytes, wantsAll: wantsAll))
  }

  private mutating func look(through elements: JSONElements, _ values: SelectorValues) {
    var elements = elements
    for _ in 0..<Self.elementsAtOnce {
      guard let element = elements.next() else { return answer = false }
      if values.index(of: element) != nil { return answer = true }
    }
    stack.append(.list(elements, values))
  }

  private mutating func look(
    through elements: JSONElements, _ values: SelectorValues, _ found: [Bool], _ missing: Int
  ) {
    var (elements, found, missing) = (elements, found, missing)
    for _ in 0..<Self.elementsAtOnce {
      guard let element = elements.next() else { return answer = false }
      guard let index = values.index(of: element), !found[index] else { continue }
      found[index] = true
      missing -= 1
      if missing == 0 { return answer = true }
    }
    stack.append(.all(elements, values, found: found, missing: missing))
  }
}

extension JSONMember {
  /// The name as a value, so that conditions can be tested on it.
  fileprivate var nameNode: JSONNode? { try? ParsedJSON(Array(rawName), limits: .request).root }
}

extension Selector {
  /// Whether a document, with its `_id`, matches; gives way to others in between.
  /// - Throws: 400 `selector_too_costly`; `WorkEnded` when the request has ended.
  package func matches(_ root: JSONNode, givingWay budget: inout SelectorBudget) async throws
    -> Bool
  {
    guard !matchesAll else { return true }
    var match = match(root)
    while true {
      let isMatch = match.next(&budget, within: Slice(of: Work.current))
      guard !budget.isSpent else { throw SelectorBudget.spent }
      if let isMatch { return isMatch }
      try await Slice.giveWay()
    }
  }
}
