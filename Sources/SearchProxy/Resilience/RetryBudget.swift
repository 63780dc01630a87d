/// How many calls may be made again: a token bucket that successes fill, so that an upstream in trouble is
/// not asked more often than it would be anyway. A value.
///
/// Source: Google, "Site Reliability Engineering", chapter 22, "Retry budgets".
package struct RetryBudget: Sendable {
  /// What a success puts in: retries are a tenth of the calls at most.
  package static let deposit = 0.1
  /// What fits in: one retry. What was saved in good times must not be spent at once when an outage begins.
  package static let capacity = 1.0

  private var tokens = RetryBudget.capacity

  /// A full bucket.
  package init() {}

  /// A call has succeeded.
  package mutating func deposit() {
    tokens = min(tokens + Self.deposit, Self.capacity)
  }

  /// Asks to make a failed call again.
  package mutating func withdraw() -> Bool {
    // A sum of tenths is not exactly one.
    guard tokens >= 1 - 1e-9 else { return false }
    tokens = max(0, tokens - 1)
    return true
  }
}
