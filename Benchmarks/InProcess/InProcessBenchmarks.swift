import Benchmark
import Glibc

/// What a request is made of, each part on its own; `Scripts/bench in-process` runs it in release.
@main
struct InProcessBenchmarks: BenchmarkRunnerHooks {
  /// Whether each part is to run for a moment only, because it is asked whether it runs, not how fast.
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
