import CoreMetrics
import Synchronization

/// A metric that can say its samples.
protocol PrometheusMetric: AnyObject, Sendable {
  func samples(named name: MetricName) -> [PrometheusSample]
}

/// Counts upwards.
final class PrometheusCounter: PrometheusMetric, CounterHandler {
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { value.store(0, ordering: .relaxed) }

  func samples(named name: MetricName) -> [PrometheusSample] {
    let count = Double(value.load(ordering: .relaxed))
    return [
      PrometheusSample(
        family: name.name, kind: .counter, suffix: "", labels: name.labels, value: count)
    ]
  }
}

/// Holds the last value.
final class PrometheusGauge: PrometheusMetric, RecorderHandler, MeterHandler,
  FloatingPointCounterHandler
{
  private let value = Mutex<Double>(0)

  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { self.value.withLock { $0 = value } }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }
  func reset() { set(0.0) }

  func samples(named name: MetricName) -> [PrometheusSample] {
    [
      PrometheusSample(
        family: name.name, kind: .gauge, suffix: "", labels: name.labels,
        value: value.withLock { $0 })
    ]
  }
}

/// Counts durations by upper bound, in seconds.
final class PrometheusHistogram: PrometheusMetric, TimerHandler {
  /// Upper bounds in seconds, from a memory read to the request deadline.
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
    for (place, count) in counts.buckets.enumerated() {
      total += count
      let bound = place < Self.bounds.count ? "\(Self.bounds[place])" : "+Inf"
      samples.append(sample("_bucket", prefix + "le=\"\(bound)\"", Double(total)))
    }
    samples.append(sample("_sum", name.labels, Double(counts.nanoseconds) / 1e9))
    samples.append(sample("_count", name.labels, Double(total)))
    return samples
  }
}

/// One line of the exposition.
package struct PrometheusSample: Sendable {
  /// What kind of metric the line belongs to.
  package enum Kind: String, Sendable {
    case counter
    case gauge
    case histogram
  }

  let family: String
  let kind: Kind
  let suffix: String
  let labels: String
  let value: Double

  /// A sample of a counter or gauge.
  package init(_ name: String, _ kind: Kind, _ value: Double) {
    self.init(family: name, kind: kind, suffix: "", labels: "", value: value)
  }

  init(family: String, kind: Kind, suffix: String, labels: String, value: Double) {
    self.family = family
    self.kind = kind
    self.suffix = suffix
    self.labels = labels
    self.value = value
  }
}

/// Writes samples, the lines of a family together behind what it is and its type.
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
