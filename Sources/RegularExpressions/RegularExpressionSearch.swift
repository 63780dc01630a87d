/// Looks for a regular expression in a text, in parts that each take some milliseconds at most.
///
/// RE2 can't be stopped or made to go on. So a part looks at the text's beginning again, which its automaton knows
/// by then, and at so many further bytes that the worst program takes no longer for them.
package struct RegularExpressionSearch: Sendable {
  /// What looking for a pattern in a text gave.
  package enum Outcome: Sendable, Equatable {
    /// The pattern occurs.
    case matched
    /// It does not.
    case notMatched
    /// The time was beyond what a search may take; nothing is known.
    case tooCostly
  }

  /// Steps of a program in one part: a step takes 5 to 11 ns where the automaton's states don't fit its memory.
  static let partSteps = 1 << 19
  /// The longest that a part may have taken for another to follow.
  static let partLimit = Duration.milliseconds(4)

  private let expression: RegularExpression
  private var text: String
  private var rest: Duration
  private var reached = 0

  /// A search that has not begun.
  /// - Parameter limit: how long the thread may run for it.
  package init(_ expression: RegularExpression, in text: String, within limit: Duration) {
    self.expression = expression
    self.text = text
    rest = limit
  }

  /// Looks through one part; nil when there is more to look through.
  package mutating func next() -> Outcome? {
    let start = ThreadTime.now
    let expression = expression
    let step = max(1, Self.partSteps / max(1, expression.size))
    let (count, end) = (text.utf8.count, reached.addingReportingOverflow(step).partialValue)
    let found = text.withUTF8 { text in expression.occurs(in: text, upTo: end) }
    guard let found else { return .tooCostly }
    guard !found else { return .matched }
    guard end < count else { return .notMatched }
    reached = end
    let taken = ThreadTime.now - start
    rest -= taken
    return taken > Self.partLimit || rest <= .zero ? .tooCostly : nil
  }
}
