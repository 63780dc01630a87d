import HTTPAPI
import HTTPServer
import Lanes
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Renews what operators are told once a second: the disk, the metrics and the server's history on a thread that does nothing else, so that
/// no work on Swift's pool and no store can hold it up; the upstream, which makes a server degraded at most, beside it.
struct HealthService: Service {
  let assembly: ServiceAssembly
  let logger: Logger

  func run() async throws {
    let (assembly, http, logger, thread) = (assembly, assembly.http, logger, HealthThread())
    await withTaskCancellationOrGracefulShutdownHandler {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await thread.run {
            http.renewHealth(logger)
            http.administration.history.look(at: .now, SystemClock.now()) { assembly.totals }
          }
        }
        group.addTask {
          await cancelWhenGracefulShutdown {
            let interval = Duration.seconds(Health.intervalSeconds)
            while (try? await Task.sleep(for: interval)) != nil {
              if http.health.isAsked { await http.renewUpstreamHealth() }
            }
          }
        }
      }
      await thread.end()
    } onCancelOrGracefulShutdown: {
      thread.stop()
    }
  }
}

/// Says that the server stops as soon as it is told to, and lets everything go on for a while, so that whoever
/// sends requests here learns of it in time: the last service, which is told first and waited for.
struct FarewellService: Service {
  let health: Health
  let delay: Duration
  let logger: Logger

  func run() async throws {
    try? await gracefulShutdown()
    health.stop()
    guard delay > .zero else { return }
    logger.notice(
      "stops soon: requests are still taken, /readyz says 503",
      metadata: ["seconds": "\(delay.components.seconds)"])
    // A cancelled task, which is a server that fails, waits for nobody.
    try? await Task.sleep(for: delay)
  }
}

/// Keeps the operators' own port open for as long as anything runs.
struct OperationsService: Service {
  let listener: OperationsListener

  func run() async throws {
    try? await gracefulShutdown()
    await listener.close()
  }
}

/// A thread that does one thing again and again.
private actor HealthThread {
  private let lane = Lane(name: "health")
  private let isOver = ConditionLock(value: false)

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Does it at each interval until ``stop()``.
  func run(_ work: @Sendable () -> Void) {
    while !isOver.lock(whenValue: true, timeoutSeconds: Double(Health.intervalSeconds)) { work() }
    isOver.unlock()
  }

  /// Ends ``run(_:)``.
  nonisolated func stop() {
    isOver.lock()
    isOver.unlock(withValue: true)
  }

  /// Gives the thread back.
  nonisolated func end() async { await lane.stop() }
}
