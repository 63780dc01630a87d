import Documents
import Testing

@testable import HTTPAPI

@Suite struct ServerHistoryTests {
  private static func totals(_ commits: Int, feeds: Int = 0) -> ServerHistory.Totals {
    var totals = ServerHistory.Totals()
    (totals.commits, totals.feeds) = (commits, feeds)
    return totals
  }

  @Test func samplesHaveWhatCameSinceTheOneBefore() {
    var history = ServerHistory()
    history.take(Self.totals(5, feeds: 1), at: Timestamp(milliseconds: 0))
    #expect(history.samples.isEmpty)
    history.take(Self.totals(7, feeds: 3), at: Timestamp(milliseconds: 10_000))
    history.take(Self.totals(7, feeds: 2), at: Timestamp(milliseconds: 20_000))
    #expect(history.samples.map(\.counts.commits) == [2, 0])
    #expect(history.samples.map(\.counts.feeds) == [3, 2])
  }

  @Test func noMoreThanAnHourIsKept() {
    var history = ServerHistory()
    for number in 0...(ServerHistory.maximumSamples + 7) {
      history.take(Self.totals(number), at: Timestamp(milliseconds: Int64(number)))
    }
    #expect(history.samples.count == ServerHistory.maximumSamples)
    #expect(history.samples.first?.at == Timestamp(milliseconds: 8))
  }

  @Test func aSampleIsTakenWhenTenSecondsArePast() {
    let recorder = HistoryRecorder()
    let start = ContinuousClock.now
    for second in 0...25 {
      recorder.sampleIfDue(
        at: start + .seconds(second), Timestamp(milliseconds: Int64(second) * 1_000)
      ) { Self.totals(second) }
    }
    #expect(recorder.samples.map(\.counts.commits) == [10, 10])
  }

  @Test(arguments: [
    (200, 1, 0, 0, 0), (304, 1, 0, 0, 0), (404, 0, 1, 0, 0), (429, 0, 1, 0, 1), (507, 0, 0, 1, 1),
  ])
  func answersAreCountedByClass(
    status: Int, successes: Int, clientErrors: Int, serverErrors: Int, limited: Int
  ) {
    let counts = AnswerCounts()
    counts.count(status)
    var totals = ServerHistory.Totals()
    counts.add(to: &totals)
    #expect(totals.successes == successes && totals.clientErrors == clientErrors)
    #expect(totals.serverErrors == serverErrors && totals.limited == limited)
  }
}
