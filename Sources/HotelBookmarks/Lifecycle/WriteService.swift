import HTTPAPI
import ServiceLifecycle

/// Carries out what was answered 202 before the stores are closed: told to stop after the HTTP server, which accepts
/// it, and before them.
struct WriteService: Service {
  let writes: PendingWrites

  func run() async throws {
    try? await gracefulShutdown()
    await writes.finish()
  }
}
