import Benchmark
import Glibc

/// Benchmarks of single components of a request. `Scripts/bench in-process` runs them in release mode.
@main
struct InProcessBenchmarks: BenchmarkRunnerHooks {
  /// Whether each benchmark runs only once, to check that it works.
  static let isSmoke = getenv("BOOKMARKS_SMOKE") != nil

  static func registerBenchmarks() {
    Benchmark.defaultConfiguration = Benchmark.Configuration(
      metrics: [.wallClock, .throughput],
      warmupIterations: isSmoke ? 0 : 10,
      maxDuration: isSmoke ? .milliseconds(1) : .seconds(3),
      maxIterations: isSmoke ? 1 : .max)
    registerDocuments()
    registerTrees()
    registerStores()
    registerFeeds()
  }
}
