import HTTPAPI
import Lanes
import Logging
import ServiceLifecycle
import UnixSignals

/// Measures how far behind the server is: how much later than it wished a task runs that has nothing to do, and how
/// long requests wait for a thread that have not overdrawn.
struct AdmissionService: Service {
  let admission: Admission
  let pool: LanePool

  func run() async throws {
    let interval = Duration.milliseconds(Admission.intervalMilliseconds)
    await cancelWhenGracefulShutdown {
      while true {
        let due = ContinuousClock.now + interval
        guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
        admission.note(lag: max(ContinuousClock.now - due, pool.lag))
      }
    }
  }
}

/// Takes a renewed certificate: within ten seconds, and at once after SIGHUP.
struct CertificateService: Service {
  /// How often the files are looked at: 10 seconds.
  private static let interval = Duration.seconds(10)

  let certificates: Certificates
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while (try? await Task.sleep(for: Self.interval)) != nil { reload() }
        }
        group.addTask {
          for await _ in await UnixSignalsSequence(trapping: .sighup) { reload() }
        }
      }
    }
  }

  private func reload() {
    do {
      if try certificates.reload() { logger.info("there is another certificate") }
    } catch {
      logger.error(
        "the certificate can't be read again",
        metadata: ["detail": "\(StartFailure.line(error))"])
    }
  }
}
