import HTTPAPI
import HTTPServer
import Logging
import NIOConcurrencyHelpers
import Scheduling
import ServiceLifecycle

/// Renews the health that operators ask for, once a second. The disk, the metrics, the heap and the server's history
/// have a separate thread, so that neither work on Swift's threads nor a store can delay them. The upstream, whose failure
/// only makes the server degraded, is checked by a task.
struct HealthService: Service {
  let assembly: ServiceAssembly
  let logger: Logger

  func run() async throws {
    let (assembly, http, logger, thread) = (assembly, assembly.http, logger, HealthThread())
    await withTaskCancellationOrGracefulShutdownHandler {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          let admission = assembly.connections.admission
          let heap = NIOLockedValueBox(Heap())
          await thread.run {
            http.renewHealth(logger)
            heap.withLockedValue { $0.note(admission.bodyBytes + admission.answerBytes) }
            http.administration.history.sampleIfDue(at: .now, SystemClock.now()) { assembly.totals }
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
    } onCancelOrGracefulShutdown: {
      thread.stop()
    }
  }
}

/// Keeps the operators' own port open until all later services have stopped.
struct OperationsService: Service {
  let listener: OperationsListener

  func run() async throws {
    try? await gracefulShutdown()
    await listener.close()
  }
}

/// A thread that repeats one piece of work.
private final class HealthThread: Sendable {
  private let threads = ThreadPool(name: "health")
  private let isOver = ConditionLock(value: false)

  /// Runs the work at each interval until ``stop()``, and ends the thread.
  func run(_ work: @escaping @Sendable () -> Void) async {
    await threads.run { [isOver] in
      while !isOver.lock(whenValue: true, timeoutSeconds: Double(Health.intervalSeconds)) { work() }
      isOver.unlock()
    }
    await threads.stop()
  }

  /// Ends ``run(_:)``.
  func stop() {
    isOver.lock()
    isOver.unlock(withValue: true)
  }
}
