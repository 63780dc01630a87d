import RegularExpressions

/// The time that a query's selector may take: 50 ms for one regular expression in one text, and 5 s
/// of matching for the whole query, in time that the thread really ran. One budget is handed to every match
/// of a query; it is counted from ``begin()`` to ``finish()``, between which nothing is waited for.
package struct SelectorBudget: Sendable {
  /// What a query is told whose budget is spent.
  package static let spent = CouchError(
    400, "selector_too_costly",
    "The selector takes too long: a regular expression over 50 ms in one text, or all over 5 s")

  /// Whether the budget is spent, and what was matched last means nothing.
  package private(set) var isSpent = false

  /// The time that a regular expression may take in one text.
  let patternLimit: Duration

  private var rest: Duration
  private var end: Duration
  private var steps = 0

  /// A fresh budget.
  /// - Parameters:
  ///   - total: the time of matching for the whole query.
  ///   - patternLimit: the time of one regular expression in one text.
  package init(
    total: Duration = .milliseconds(SelectorLimits.matchingMilliseconds),
    patternLimit: Duration = .milliseconds(SelectorLimits.patternMilliseconds)
  ) {
    rest = total
    end = .zero
    self.patternLimit = patternLimit
  }

  /// Says that matching a document begins, or goes on.
  mutating func begin() {
    end = ThreadTime.now + rest
  }

  /// Says that matching the document is over, or makes a pause.
  mutating func finish() {
    rest = end - ThreadTime.now
    if rest <= .zero { isSpent = true }
  }

  /// Counts one comparison, and looks at the clock at every 64th, since a document and a selector
  /// can make many of them.
  mutating func step() {
    steps &+= 1
    if steps & 63 == 0, ThreadTime.now >= end { isSpent = true }
  }

  /// Says that a regular expression took too long.
  mutating func spend() {
    isSpent = true
  }
}
