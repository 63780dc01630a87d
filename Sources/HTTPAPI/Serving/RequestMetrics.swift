import Metrics
import Synchronization

/// Counts a route's requests by status and times them; never by a path that a client made up.
final class RequestMetrics: Sendable {
  private struct Instruments {
    var counts: [(status: Int, counter: Counter)] = []
    var duration: Timer?
  }

  private let template: String
  private let instruments = Mutex(Instruments())

  /// Metrics in the process' metrics system, which has each from its first use on.
  /// - Parameter template: the route's template; `none` for requests that no route took.
  init(template: String) { self.template = template }

  /// Counts an answer.
  func record(status: Int, duration: Duration) {
    let (counter, timer) = instruments.withLock { known in
      let counter =
        known.counts.first { $0.status == status }?.counter
        ?? Counter(
          label: "http_requests_total",
          dimensions: [("route", template), ("status", String(status))])
      if !known.counts.contains(where: { $0.status == status }) {
        known.counts.append((status, counter))
      }
      let timer =
        known.duration
        ?? Timer(label: "http_request_duration_seconds", dimensions: [("route", template)])
      known.duration = timer
      return (counter, timer)
    }
    counter.increment()
    let parts = duration.components
    timer.recordNanoseconds(
      parts.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
        &+ parts.attoseconds / 1_000_000_000)
  }
}
