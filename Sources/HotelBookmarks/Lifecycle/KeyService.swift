import Accounts
import Logging
import ServiceLifecycle

/// Looks for keys that the command line rotated while the server runs.
struct KeyService: Service {
  /// How long a key that was dropped may still be taken: 30 seconds.
  private static let interval = Duration.seconds(30)

  let keys: SigningKeys
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do { try await keys.reload() } catch {
          logger.error(
            "the keys can't be read again", metadata: ["detail": "\(StartFailure.line(error))"])
        }
      }
    }
  }
}
