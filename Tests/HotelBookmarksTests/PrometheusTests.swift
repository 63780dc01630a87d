import CoreMetrics
import Testing

@testable import HotelBookmarks

/// The text format of Prometheus ("Exposition formats", text format 0.0.4).
@Suite struct PrometheusTests {
  private static func lines(_ registry: PrometheusRegistry) -> [String] {
    String(decoding: registry.text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func counterCountsWhoeverAsksForIt() {
    let registry = PrometheusRegistry()
    let labels = [("route", "/v1/me"), ("status", "200")]
    registry.makeCounter(label: "requests_total", dimensions: labels).increment(by: 2)
    registry.makeCounter(label: "requests_total", dimensions: labels).increment(by: 3)
    #expect(
      Self.lines(registry) == [
        "# TYPE requests_total counter",
        #"requests_total{route="/v1/me",status="200"} 5"#,
      ])
  }

  @Test func gaugeHoldsTheLastValue() {
    let registry = PrometheusRegistry()
    let gauge = registry.makeMeter(label: "open", dimensions: [])
    gauge.set(Int64(7))
    gauge.increment(by: 0.5)
    registry.makeRecorder(label: "size", dimensions: [], aggregate: false).record(Int64(9))
    #expect(
      Self.lines(registry) == ["# TYPE open gauge", "open 7.5", "# TYPE size gauge", "size 9"])
  }

  @Test func histogramsBucketsAreCumulative() {
    let registry = PrometheusRegistry()
    let timer = registry.makeTimer(label: "seconds", dimensions: [("route", "/")])
    for nanoseconds in [100_000, 2_000_000, 2_500_000, 2_500_001, 100_000_000_000] as [Int64] {
      timer.recordNanoseconds(nanoseconds)
    }
    let lines = Self.lines(registry)
    #expect(lines.first == "# TYPE seconds histogram")
    let buckets = lines.filter { $0.hasPrefix("seconds_bucket") }
    let counts = buckets.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    #expect(counts == counts.sorted() && counts.count == buckets.count)
    for (bound, count) in [("0.0001", 1), ("0.001", 1), ("0.0025", 3), ("0.005", 4), ("60.0", 4)] {
      #expect(lines.contains(#"seconds_bucket{route="/",le="\#(bound)"} \#(count)"#), "\(bound)")
    }
    #expect(buckets.last == #"seconds_bucket{route="/",le="+Inf"} 5"#)
    #expect(lines.suffix(2).last == #"seconds_count{route="/"} 5"#)
    #expect(lines.contains { $0.hasPrefix(#"seconds_sum{route="/"} 100.007"#) })
  }

  @Test func histogramWithoutLabelsHasItsBoundAlone() {
    let registry = PrometheusRegistry()
    registry.makeTimer(label: "seconds", dimensions: []).recordNanoseconds(1)
    let lines = Self.lines(registry)
    #expect(lines.contains(#"seconds_bucket{le="+Inf"} 1"#))
    #expect(lines.contains("seconds_count 1"))
  }

  @Test func labelValuesAreEscaped() {
    let registry = PrometheusRegistry()
    let labels = [("name", "a\"b\\c\nd\u{E9}")]
    registry.makeCounter(label: "odd-name.total", dimensions: labels).increment(by: 1)
    #expect(
      Self.lines(registry) == [
        "# TYPE odd_name_total counter", #"odd_name_total{name="a\"b\\c\nd"# + "\u{E9}\"} 1",
      ])
  }

  @Test func eachFamilyHasOneTypeLineBeforeItsSamples() {
    let registry = PrometheusRegistry()
    for status in ["200", "404", "500"] {
      for route in ["/", "/v1/me"] {
        let labels = [("route", route), ("status", status)]
        registry.makeCounter(label: "requests_total", dimensions: labels).increment(by: 1)
        registry.makeTimer(label: "seconds", dimensions: [("route", route)]).recordNanoseconds(1)
      }
    }
    registry.collect { [PrometheusSample("stores_open", .gauge, 3)] }
    registry.collect { [PrometheusSample("commits_total", .counter, 4)] }
    let lines = Self.lines(registry)
    #expect(
      lines.filter { $0.hasPrefix("#") } == [
        "# TYPE commits_total counter", "# TYPE requests_total counter", "# TYPE seconds histogram",
        "# HELP stores_open Stores that are open.", "# TYPE stores_open gauge",
      ])
    var family = ""
    for line in lines {
      if line.hasPrefix("#") { family = String(line.split(separator: " ")[2]) }
      #expect(line.hasPrefix("#") || line.hasPrefix(family))
    }
    #expect(lines.count { $0.hasPrefix("requests_total{") } == 6)
    #expect(lines.contains("stores_open 3") && lines.contains("commits_total 4"))
  }
}
