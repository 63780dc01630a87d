package import CoreMetrics
import Synchronization

/// The process' metrics, and their text for Prometheus.
///
/// A backend of swift-metrics: counters, gauges (recorders and meters) and histograms of seconds (timers).
/// Source: Prometheus, "Exposition formats", text format 0.0.4.
package final class PrometheusRegistry: MetricsFactory {
  private let metrics = Mutex<[MetricName: any PrometheusMetric]>([:])
  private let gauges = Mutex<[@Sendable () -> [PrometheusSample]]>([])

  /// A registry without metrics.
  package init() {}

  /// Asks for values when the text is made, for what is counted elsewhere anyway.
  package func collect(_ samples: @escaping @Sendable () -> [PrometheusSample]) {
    gauges.withLock { $0.append(samples) }
  }

  /// Everything, by name.
  package var text: [UInt8] {
    var samples = metrics.withLock { known in known.flatMap { $0.value.samples(named: $0.key) } }
    for collector in gauges.withLock({ $0 }) { samples += collector() }
    return PrometheusText.bytes(of: samples)
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    metric(label, dimensions) { PrometheusCounter() }
  }

  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    metric(label, dimensions) { PrometheusGauge() }
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    metric(label, dimensions) { PrometheusGauge() }
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    metric(label, dimensions) { PrometheusGauge() }
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    metric(label, dimensions) { PrometheusHistogram() }
  }

  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  /// One metric of a name and labels, however often it is asked for. A name belongs to one kind.
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

  /// Backslash, quote and line feed are escaped, as the format asks.
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
