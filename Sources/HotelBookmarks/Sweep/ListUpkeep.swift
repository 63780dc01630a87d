import Lists
import Logging
import ServiceLifecycle

/// Brings to lists what a commit about their members has left to be done, where that was not done at once: after an
/// account was ended by the command line, or a store was full.
struct ListUpkeep: Service {
  /// How often it looks: every 20 seconds.
  private static let interval = Duration.seconds(20)

  let lists: ListService
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do {
          for failure in try await lists.catchUp() {
            logger.debug("a list waits", metadata: ["detail": "\(failure)"])
          }
        } catch {
          logger.warning("lists wait for the accounts", metadata: ["detail": "\(error)"])
        }
      }
    }
  }
}
