import Logging
import SQLiteEngine
import ServiceLifecycle
import Stores

/// Reads through all stores slowly and repeatedly, so that damage is found before a person needs the data. It also logs
/// the damage that requests find.
struct ScrubService: Service {
  /// The rest after each piece of at most 256 documents, and after each store: 100 ms. So it takes a hundredth of one
  /// processor, and a day for about 800,000 stores.
  static let pause = Duration.milliseconds(100)
  /// The rest before the first pass, and after each: 10 minutes.
  static let rest = Duration.seconds(600)
  /// How often findings are logged: every 5 seconds.
  private static let interval = Duration.seconds(5)

  let backups: StoreBackups
  let logger: Logger
  /// The rest between two passes.
  var rest = ScrubService.rest

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while (try? await Task.sleep(for: rest)) != nil { await scrub() }
        }
        group.addTask {
          while (try? await Task.sleep(for: Self.interval)) != nil { log() }
        }
      }
    }
    log()
  }

  private func scrub() async {
    // `log()` logs findings in rows, together with those of requests.
    let reporter = ScrubReporter { _ in
    } progress: { _, _ in
    }
    do {
      let repair = try await backups.repair(reporter, pause: Self.pause)
      if repair.damagedStores > 0 {
        logger.error(
          "stores are damaged and can't be opened; verify names them, restore --store replaces one",
          metadata: ["stores": "\(repair.damagedStores)"])
      }
    } catch is CancellationError {
    } catch {
      logger.warning(
        "the stores could not be checked",
        metadata: ["detail": "\(StartFailure.line(error))"])
    }
  }

  private func log() {
    for finding in backups.engine.takeDamageFound() {
      logger.error(
        "damage was found", metadata: ["file": "\(finding.file)", "detail": "\(finding.reason)"])
    }
  }
}
