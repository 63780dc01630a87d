import SearchProxy
import Testing

/// When an upstream may be called.
@Suite struct CircuitBreakerTests {
  private let start = ContinuousClock.now

  @Test func opensAfterEightFailuresInARow() {
    var admission: CircuitBreaker.Admission
    var breaker = CircuitBreaker()
    for number in 1...8 {
      let admission = breaker.admit(at: start)
      #expect(admission == .call(spell: 0))
      let change = breaker.record(.failure, of: admission, at: start, jitter: 1)
      #expect(change == (number == 8 ? .open : nil))
    }
    admission = breaker.admit(at: start)
    #expect(admission == .refused(.seconds(1)))
  }

  @Test func opensWhenMoreThanHalfOfTwentyCallsFail() {
    var breaker = CircuitBreaker()
    // There are never eight failures in a row, but eleven of twenty calls fail.
    for number in 1...20 {
      let fails = number % 2 == 0 || number == 19
      let change = breaker.record(
        fails ? .failure : .success, of: .call(spell: 0), at: start, jitter: 1)
      #expect(change == (number == 20 ? .open : nil))
    }
  }

  @Test func failuresOfLongAgoDoNotCount() {
    var change: CircuitBreaker.State?
    var breaker = CircuitBreaker()
    for number in 0..<19 {
      let outcome: CircuitBreaker.Outcome = number % 7 == 6 ? .success : .failure
      _ = breaker.record(outcome, of: .call(spell: 0), at: start, jitter: 1)
    }
    change = breaker.record(.failure, of: .call(spell: 0), at: start + .seconds(11), jitter: 1)
    #expect(change == nil)
    #expect(breaker.state == .closed)
  }

  @Test func oneProbeIsLetThroughAfterThePause() {
    var admission: CircuitBreaker.Admission
    var breaker = opened()
    admission = breaker.admit(at: start + .milliseconds(999))
    #expect(admission == .refused(.milliseconds(1)))
    admission = breaker.admit(at: start + .seconds(1))
    #expect(admission == .probe)
    #expect(breaker.state == .halfOpen)
    let second = breaker.admit(at: start + .seconds(1))
    guard case .refused = second else {
      Issue.record("a second probe was let through")
      return
    }
  }

  @Test func probeThatSucceedsCloses() {
    var admission: CircuitBreaker.Admission
    var change: CircuitBreaker.State?
    var breaker = opened()
    let later = start + .seconds(1)
    let probe = breaker.admit(at: later)
    change = breaker.record(.success, of: probe, at: later, jitter: 1)
    #expect(change == .closed)
    admission = breaker.admit(at: later)
    #expect(admission == .call(spell: 1))
    #expect(breaker.isRecovering(at: later + .seconds(9)))
    #expect(!breaker.isRecovering(at: later + .seconds(10)))
  }

  @Test func pausesGrowToFourSecondsAndNoFurther() {
    var admission: CircuitBreaker.Admission
    var change: CircuitBreaker.State?
    var breaker = opened()
    var now = start
    for seconds in [1, 2, 4, 4, 4] {
      now += .seconds(seconds)
      admission = breaker.admit(at: now - .milliseconds(1))
      #expect(admission == .refused(.milliseconds(1)))
      let probe = breaker.admit(at: now)
      #expect(probe == .probe)
      change = breaker.record(.failure, of: probe, at: now, jitter: 1)
      #expect(change == .open)
    }
  }

  @Test func jitterOnlyShortensThePause() {
    var admission: CircuitBreaker.Admission
    var breaker = opened(jitter: 0)
    admission = breaker.admit(at: start + .milliseconds(500))
    #expect(admission == .probe)
    breaker = opened(jitter: 7)
    admission = breaker.admit(at: start)
    #expect(admission == .refused(.seconds(1)))
  }

  @Test func probeThatIsAbandonedOpensAgainWithoutALongerPause() {
    var admission: CircuitBreaker.Admission
    var breaker = opened()
    let probe = breaker.admit(at: start + .seconds(1))
    _ = breaker.record(.abandoned, of: probe, at: start + .seconds(1), jitter: 1)
    admission = breaker.admit(at: start + .seconds(2))
    #expect(admission == .probe)
  }

  @Test func callsFromBeforeItOpenedChangeNothing() {
    var change: CircuitBreaker.State?
    var breaker = opened()
    change = breaker.record(.success, of: .call(spell: 0), at: start, jitter: 1)
    #expect(change == nil)
    #expect(breaker.state == .open)
  }

  /// Regression: the last calls of an outage timed out after its end and opened the breaker again.
  @Test func callsFromBeforeItOpenedDoNotOpenItAgain() {
    var change: CircuitBreaker.State?
    var breaker = opened()
    let later = start + .seconds(1)
    let probe = breaker.admit(at: later)
    _ = breaker.record(.success, of: probe, at: later, jitter: 1)
    for _ in 0..<64 {
      change = breaker.record(.failure, of: .call(spell: 0), at: later, jitter: 1)
      #expect(change == nil)
    }
    #expect(breaker.state == .closed)
    for number in 1...8 {
      change = breaker.record(.failure, of: .call(spell: 1), at: later, jitter: 1)
      #expect(change == (number == 8 ? .open : nil))
    }
  }

  @Test func whatItWouldAdmitIsWhatItAdmits() {
    var breaker = opened()
    #expect(!breaker.wouldAdmit(at: start + .milliseconds(999)))
    #expect(breaker.wouldAdmit(at: start + .seconds(1)))
    #expect(breaker.state == .open)
    let probe = breaker.admit(at: start + .seconds(1))
    #expect(!breaker.wouldAdmit(at: start + .seconds(60)))
    _ = breaker.record(.success, of: probe, at: start + .seconds(1), jitter: 1)
    #expect(breaker.wouldAdmit(at: start + .seconds(1)))
  }

  private func opened(jitter: Double = 1) -> CircuitBreaker {
    var breaker = CircuitBreaker()
    for _ in 0..<8 { _ = breaker.record(.failure, of: .call(spell: 0), at: start, jitter: jitter) }
    return breaker
  }
}

/// How many calls may be retried.
@Suite struct RetryBudgetTests {
  @Test func outageIsGivenOneRetry() {
    var budget = RetryBudget()
    var granted = 0
    for _ in 0..<100 where budget.withdraw() { granted += 1 }
    #expect(granted == 1)
  }

  @Test func tenSuccessesBuyOne() {
    var budget = RetryBudget()
    _ = budget.withdraw()
    for _ in 0..<9 { budget.deposit() }
    let early = budget.withdraw()
    budget.deposit()
    let late = budget.withdraw()
    #expect(!early && late)
  }

  @Test func nothingIsSavedUp() {
    var budget = RetryBudget()
    for _ in 0..<1_000 { budget.deposit() }
    let (first, second) = (budget.withdraw(), budget.withdraw())
    #expect(first && !second)
  }
}
