import Lanes

/// Shows who has how much of the processors' time.
struct WorkReport: Sendable {
  private let pool: LanePool

  /// A report of what a pool does.
  init(_ pool: LanePool) { self.pool = pool }

  /// Puts it among the metrics. The request that asks for them is not counted as running.
  func report(to metrics: PrometheusRegistry) {
    metrics.collect { [pool] in
      let counts = pool.counts
      let own = Work.current == nil ? 0 : 1
      let time = counts.nanoseconds
      return Work.Ending.allCases.map { reason in
        Self.sample("work_ended_total", "reason=\"\(reason)\"", Double(counts.endedCount(reason)))
      } + [
        Self.sample(
          "work_processor_seconds_total", "account=\"paid\"", Double(time.paid) / 1e9),
        Self.sample(
          "work_processor_seconds_total", "account=\"overdrawn\"", Double(time.overdrawn) / 1e9),
        PrometheusSample("work_running", .gauge, Double(max(0, counts.runningCount - own))),
        PrometheusSample("work_waiting", .gauge, Double(pool.waitingCount)),
        PrometheusSample(
          "work_served_before_overdrawn_total", .counter, Double(pool.servedBeforeOverdrawn)),
        PrometheusSample(
          "work_longest_slice_seconds", .gauge, Double(counts.takeLongestSlice()) / 1e9),
      ]
    }
  }

  private static func sample(_ family: String, _ labels: String, _ value: Double)
    -> PrometheusSample
  {
    PrometheusSample(family: family, kind: .counter, suffix: "", labels: labels, value: value)
  }
}
