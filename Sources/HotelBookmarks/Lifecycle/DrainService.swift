import Glibc
import HTTPAPI
import HTTPServer
import Logging
import Scheduling
import ServiceLifecycle

/// Reports the stop in `/readyz` at once, and lets the server continue for a while, so that load balancers notice in
/// time. It is the last service, so it is told first to stop, and the others wait for it.
struct DrainService: Service {
  let health: Health
  let delay: Duration
  let logger: Logger

  func run() async throws {
    try? await gracefulShutdown()
    health.stop()
    StopLimit.begin(after: delay, logger)
    guard delay > .zero else { return }
    logger.notice(
      "the server stops soon: it still accepts requests, /readyz answers 503",
      metadata: ["seconds": "\(delay.components.seconds)"])
    // A cancelled task, of a server that fails, does not wait.
    try? await Task.sleep(for: delay)
  }
}

/// The end of a stop in which a part waits for what does not come, such as a database or a disk that no longer answers.
enum StopLimit {
  /// How long a stop takes at most, in seconds after the drain: the time of open connections and then of accepted writes.
  static let seconds = RequestLimits.stopSeconds + PendingWrites.stopSeconds
  /// How long the log line has to be written, in microseconds: 0.2 s.
  private static let logMicroseconds: UInt32 = 200_000

  /// A thread of its own, because Swift's threads may be what is blocked. It ends with the process.
  private static let threads = ThreadPool(name: "stop")

  /// Ends the process ``seconds`` after a delay, if it is still there. It loses as little as a kill does, which is
  /// nothing that was answered with a 2xx other than 202.
  static func begin(after delay: Duration, _ logger: Logger) {
    let limit = UInt32(clamping: delay.components.seconds) + UInt32(seconds)
    threads.enqueue {
      var rest = limit
      // A signal may end a sleep early.
      while rest > 0 { rest = sleep(rest) }
      logger.error(
        "the stop takes too long: the process ends now, as by a kill",
        metadata: ["seconds": "\(limit)"])
      usleep(logMicroseconds)
      _exit(EXIT_FAILURE)
    }
  }
}
