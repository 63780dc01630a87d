import Hummingbird
import Metrics
import Synchronization

/// The keys of log lines. Nothing else of a request is logged: no body, no name, no token.
enum LogKey {
  static let request = "hb.request.id"
  static let status = "status"
  static let error = "error"
  static let detail = "detail"
}

/// Counts and times a route's requests, by status. The label is the template, never a path from a client.
final class RequestMetrics: Sendable {
  private struct Instruments {
    var counts: [(status: Int, counter: Counter)] = []
    var duration: Timer?
  }

  private let template: String
  private let instruments = Mutex(Instruments())

  /// Registers each metric with the process' metrics system at its first use.
  /// - Parameter template: the route's template; `none` for requests without a route.
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
