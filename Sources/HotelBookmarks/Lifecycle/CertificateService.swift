import HTTPServer
import Logging
import ServiceLifecycle
import UnixSignals

/// Loads a renewed certificate: within ten seconds, and at once after SIGHUP.
struct CertificateService: Service {
  /// How often the files are checked: 10 seconds.
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
      if try certificates.reload() { logger.info("the certificate was replaced") }
    } catch {
      logger.error("the certificate can't be reloaded", error)
    }
  }
}
