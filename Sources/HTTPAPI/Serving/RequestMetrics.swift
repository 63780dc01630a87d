import Metrics
import Synchronization

/// Counts requests and times them, by route template and status: never by a path that a client made up.
package final class RequestMetrics: Sendable {
  private struct Key: Hashable {
    let template: String
    let status: Int
  }

  private struct Instruments {
    let count: Counter
    let duration: Timer
  }

  private let instruments = Mutex<[Key: Instruments]>([:])

  /// Metrics in the process' metrics system.
  package init() {}

  /// - Parameter template: the route's template; nil when no route took the request.
  func record(template: String?, status: Int, duration: Duration) {
    let key = Key(template: template ?? "none", status: status)
    let found = instruments.withLock { known in
      if let found = known[key] { return found }
      let made = Instruments(
        count: Counter(
          label: "http_requests_total",
          dimensions: [("route", key.template), ("status", String(status))]),
        duration: Timer(
          label: "http_request_duration_seconds", dimensions: [("route", key.template)]))
      known[key] = made
      return made
    }
    found.count.increment()
    let parts = duration.components
    found.duration.recordNanoseconds(
      parts.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
        &+ parts.attoseconds / 1_000_000_000)
  }
}
