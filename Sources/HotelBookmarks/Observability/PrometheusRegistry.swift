package import CoreMetrics
import Synchronization

/// The process' metrics, and their text for Prometheus.
///
/// A backend of swift-metrics: counters, gauges (recorders) and histograms of seconds (timers).
/// Source: Prometheus, "Exposition formats", text format 0.0.4.
package final class PrometheusRegistry: MetricsFactory {
  private let metrics = Mutex<[MetricName: any PrometheusMetric]>([:])
  private let gauges = Mutex<[@Sendable () -> [PrometheusSample]]>([])

  /// Adds a collector, which is called each time the text is made, for values that are counted elsewhere.
  package func collect(_ samples: @escaping @Sendable () -> [PrometheusSample]) {
    gauges.withLock { $0.append(samples) }
  }

  /// The text of all metrics, by name.
  package var text: [UInt8] {
    var samples = metrics.withLock { known in known.flatMap { $0.value.samples(named: $0.key) } }
    for collector in gauges.withLock({ $0 }) { samples += collector() }
    return PrometheusText.bytes(of: samples)
  }

  /// The values of a family of counters or gauges, with their labels as in the text.
  package func values(of family: String) -> [(labels: String, value: Int)] {
    let samples = metrics.withLock { known in
      known.filter { $0.key.name == family }.flatMap { $0.value.samples(named: $0.key) }
    }
    return samples.map { ($0.labels, Int($0.value)) }
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    metric(label, dimensions) { PrometheusCounter() }
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler { metric(label, dimensions) { PrometheusGauge() } }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    metric(label, dimensions) { PrometheusHistogram() }
  }

  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  /// The metric with a name and labels; the first call creates it. A name belongs to one kind of metric.
  private func metric<Metric: PrometheusMetric>(
    _ label: String, _ dimensions: [(String, String)], _ make: () -> Metric
  ) -> Metric {
    let name = MetricName(label, dimensions)
    return metrics.withLock { known in
      if let metric = known[name] as? Metric { return metric }
      let metric = make()
      known[name] = metric
      return metric
    }
  }
}

/// A metric's name with its labels, in the order in which they were given.
struct MetricName: Hashable, Sendable {
  let name: String
  let labels: String

  init(_ label: String, _ dimensions: [(String, String)]) {
    name = String(
      decoding: label.utf8.map { byte -> UInt8 in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: byte
        default: UInt8(ascii: "_")
        }
      }, as: UTF8.self)
    labels = dimensions.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
  }

  /// Escapes backslash, quotation mark and line feed, as the format requires.
  private static func escaped(_ value: String) -> String {
    var bytes: [UInt8] = []
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
      case 0x0A: bytes += Array("\\n".utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The texts of the `# HELP` lines, which swift-metrics has no place for.
enum MetricHelp {
  /// The sentence about a family; nil for an unknown family. All families of this service are known.
  static func text(of family: String) -> String? { texts[family] }

  private static let texts: [String: String] = [
    "answer_bytes": "Bytes of answers that clients have not taken yet, and of open HTTP/2 streams.",
    "answer_bytes_bound": "Bytes of answers that may wait for clients.",
    "bookmarks_left_out_total": "Ids that were left out when merged lists became too long.",
    "connections_open": "Connections of clients.",
    "connections_refused_total": "Connections that were refused.",
    "health_renewals_total": "Checks of the server's own health.",
    "hotel_bookmarks_build_info": "The version, as a label.",
    "http_request_duration_seconds": "Seconds to the head of an answer, by route.",
    "http_requests_total": "Requests that were answered, by route and status.",
    "audit_entries_lost_total": "Entries of the audit log that were not recorded.",
    "backup_newest_timestamp_seconds":
      "When the newest whole regular backup began, in seconds since 1970; 0 for none.",
    "backup_period_seconds": "Seconds from the beginning of a regular backup to that of the next.",
    "log_lines_dropped_total": "Log lines that were dropped because too many waited.",
    "database_connections": "Connections to the database.",
    "database_connections_hung": "Connections to the database that wait for an overdue commit.",
    "database_connections_idle": "Connections to the database that are not in use.",
    "database_outcomes_unknown_total": "Commits whose outcome is not known.",
    "database_reconnections_total": "Connections to the database that were lost.",
    "disk_free_bytes": "Free bytes of the data directory's disk.",
    "newcomers_taken": "Whether new guests, users and lists are taken.",
    "database_waiting": "Callers that wait for a connection to the database.",
    "database_writes_on_one_disk": "1 if no standby must have writes on its disk, else 0.",
    "process_cpu_seconds_total": "Seconds of processors that the process has used.",
    "process_max_fds": "Descriptors that the process may have open.",
    "process_open_fds": "Descriptors that the process has open.",
    "process_resident_memory_bytes": "Bytes of memory that are in use.",
    "process_start_time_seconds": "When the process started, in seconds since 1970.",
    "process_virtual_memory_bytes": "Bytes of address space.",
    "request_body_bytes": "Bytes of requests' bodies in memory.",
    "request_body_bytes_bound": "Bytes of requests' bodies that may be in memory.",
    "requests_bound": "Requests that may be answered at once now.",
    "requests_refused_total": "Requests that were refused because too many were being answered.",
    "requests_running": "Requests that are being answered.",
    "search_cache_total": "Searches by what the cache did.",
    "ssrf_blocked_total": "Connections that led to an address which is not allowed.",
    "store_commits_total": "Commits to stores.",
    "store_creations_total": "Stores that were made.",
    "store_damage_left":
      "Damaged values that the last check could not repair, and files that it could not read.",
    "store_damage_total": "Damaged values that were found, by outcome.",
    "store_failures_total": "Calls that failed because of the disk or a file, by kind.",
    "store_openings_total": "Stores that were opened.",
    "store_updates_per_commit": "Updates that share a commit, since the start.",
    "store_updates_total": "Updates of stores.",
    "stores_leased": "Stores in use now.",
    "replications_running": "Replications that run or wait to run again.",
    "replications_started_total": "Replications that were started.",
    "replication_failures_total": "Runs of replications that failed.",
    "replication_docs_written_total": "Revisions that replications have written.",
    "replication_docs_refused_total": "Revisions that a target can never store.",
    "lite_sessions_open": "Sessions of Couchbase Lite that are open.",
    "stores_open": "Stores that are open.",
    "sweep_failures_total": "Stores that could not be swept.",
    "sweep_kept": "What the last round of the sweep kept and a later one may remove, by kind.",
    "sweep_removed_total": "What the sweep has removed, by kind.",
    "sweep_rounds_total": "Rounds of the sweep over all stores.",
    "sweep_stores_total": "Stores that the sweep has visited.",
    "upstream_breaker_changes_total": "Changes of circuit breakers, by the new state.",
    "upstream_breaker_open": "Whether an upstream's circuit breaker is open.",
    "upstream_call_duration_seconds": "Seconds that calls of upstreams took.",
    "upstream_calls_total": "Calls of upstreams, by outcome.",
    "upstream_guard_total":
      "Calls of upstreams that were refused, found no free call or were repeated.",
    "upstream_rows_skipped_total": "Rows of upstreams that are not hotels.",
    "work_ended_total": "Requests that were ended early, by reason.",
    "work_longest_slice_seconds":
      "The longest piece of work of the last minute, without hashes of passwords.",
    "work_processor_seconds_total": "Seconds of processors that requests have used.",
    "work_running": "Requests that the server works on.",
    "work_served_before_overdrawn_total":
      "Pieces of work that went before those of overdrawn accounts.",
    "work_waiting": "Pieces of work that wait for a processor.",
    "writes_pending": "Writes that were answered 202 and are not complete.",
  ]
}

/// A metric that reports its samples.
protocol PrometheusMetric: AnyObject, Sendable {
  func samples(named name: MetricName) -> [PrometheusSample]
}

/// A value that only grows.
final class PrometheusCounter: PrometheusMetric, CounterHandler {
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { value.store(0, ordering: .relaxed) }

  func samples(named name: MetricName) -> [PrometheusSample] {
    let count = Double(value.load(ordering: .relaxed))
    return [PrometheusSample(name.name, .counter, labels: name.labels, count)]
  }
}

/// The last value.
final class PrometheusGauge: PrometheusMetric, RecorderHandler {
  private let value = Mutex<Double>(0)

  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) { self.value.withLock { $0 = value } }

  func samples(named name: MetricName) -> [PrometheusSample] {
    [PrometheusSample(name.name, .gauge, labels: name.labels, value.withLock { $0 })]
  }
}

/// The number of durations for each upper bound, in seconds.
final class PrometheusHistogram: PrometheusMetric, TimerHandler {
  /// Upper bounds in seconds, from a read in memory to the limit of a request.
  private static let bounds: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    60,
  ]

  private struct Counts {
    var buckets = [Int64](repeating: 0, count: PrometheusHistogram.bounds.count + 1)
    var nanoseconds: Int64 = 0
  }

  private let counts = Mutex<Counts>(Counts())

  func recordNanoseconds(_ duration: Int64) {
    let seconds = Double(duration) / 1e9
    let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    counts.withLock { counts in
      counts.buckets[bucket] += 1
      counts.nanoseconds = counts.nanoseconds.addingReportingOverflow(duration).partialValue
    }
  }

  func samples(named name: MetricName) -> [PrometheusSample] {
    let counts = counts.withLock { $0 }
    func sample(_ suffix: String, _ labels: String, _ value: Double) -> PrometheusSample {
      PrometheusSample(
        family: name.name, kind: .histogram, suffix: suffix, labels: labels, value: value)
    }
    var total: Int64 = 0
    var samples: [PrometheusSample] = []
    let prefix = name.labels.isEmpty ? "" : name.labels + ","
    for (index, count) in counts.buckets.enumerated() {
      total += count
      let bound = index < Self.bounds.count ? "\(Self.bounds[index])" : "+Inf"
      samples.append(sample("_bucket", prefix + "le=\"\(bound)\"", Double(total)))
    }
    samples.append(sample("_sum", name.labels, Double(counts.nanoseconds) / 1e9))
    samples.append(sample("_count", name.labels, Double(total)))
    return samples
  }
}

/// Writes samples. The lines of a family follow its help text and its type.
enum PrometheusText {
  static func bytes(of samples: [PrometheusSample]) -> [UInt8] {
    var text = ""
    let families = Dictionary(grouping: samples, by: \.family)
    for (family, lines) in families.sorted(by: { $0.key < $1.key }) {
      if let help = MetricHelp.text(of: family) { text += "# HELP \(family) \(help)\n" }
      text += "# TYPE \(family) \(lines.first?.kind.rawValue ?? "untyped")\n"
      for line in lines {
        let labels = line.labels.isEmpty ? "" : "{\(line.labels)}"
        text += "\(family)\(line.suffix)\(labels) \(number(line.value))\n"
      }
    }
    return Array(text.utf8)
  }

  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map(String.init) ?? String(value)
  }
}
