package import Stores
import Text

/// The time that a query's selector may take: 50 ms for one regular expression in one text, and 5 s of matching for the
/// whole query, in processor time of the thread. All matches of a query share one budget. The time counts from
/// ``begin()`` to ``finish()``; between them the thread does not wait.
package struct SelectorBudget: Sendable {
  /// The error for a query whose budget is spent.
  package static let spent = ServiceError(
    .selectorTooCostly,
    "The selector takes too long: a regular expression over 50 ms in one text, or all over 5 s")

  /// Whether the budget is spent. The last result is then invalid.
  package internal(set) var isSpent = false

  /// The time that a regular expression may take in one text.
  let patternLimit: Duration

  private var rest: Duration
  private var end: Duration
  private var steps = 0

  /// Makes an unused budget.
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

  /// Starts the time, when matching a document begins or continues.
  mutating func begin() { end = ThreadTime.now + rest }

  /// Stops the time, when matching a document ends or pauses.
  mutating func finish() {
    rest = end - ThreadTime.now
    if rest <= .zero { isSpent = true }
  }

  /// Counts one comparison, and reads the clock at every 64th, because a document and a selector can need many of them.
  mutating func step() {
    steps &+= 1
    if steps & 63 == 0, ThreadTime.now >= end { isSpent = true }
  }
}
