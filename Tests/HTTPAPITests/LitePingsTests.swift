import Testing

@testable import HTTPAPI

/// Sessions of Couchbase Lite in which nothing happens, behind a proxy.
@Suite(.bug(id: "35/34")) struct LitePingsTests {
  private let start = ContinuousClock.now

  /// Regression: the answer to a question made the session wait once more, for 100 seconds in all. nginx ended it.
  @Test func connectionIsNotSilentForAsLongAsProxiesWait() {
    var (pings, arrival) = (LitePings(at: start), start)
    for _ in 0..<4 {
      let asked = pings.due(after: arrival)
      #expect(pings.step(at: asked, after: arrival) == .ask)
      // The answer comes after the session has begun to wait.
      let known = pings.due(after: arrival)
      arrival = asked + .milliseconds(40)
      #expect(pings.step(at: known, after: arrival) == .wait)
      let next = pings.due(after: arrival)
      #expect(next > known && next - arrival < .seconds(60))
    }
  }

  @Test func clientThatDoesNotAnswerIsGone() {
    var (pings, steps, now) = (LitePings(at: start), [LitePings.Step](), start)
    for _ in 0...LitePings.unanswered {
      let due = pings.due(after: start)
      #expect(due - now == LitePings.silence)
      now = due
      steps.append(pings.step(at: now, after: start))
    }
    #expect(steps == [.ask, .ask, .end])
  }

  @Test func anythingThatComesPutsTheQuestionOff() {
    var pings = LitePings(at: start)
    let arrival = start + .seconds(49)
    #expect(pings.step(at: start + LitePings.silence, after: arrival) == .wait)
    #expect(pings.due(after: arrival) == arrival + LitePings.silence)
  }
}
