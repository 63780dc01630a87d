import Logging
import SQLite
import SQLiteEngine
import ServiceLifecycle
import Stores

/// Looks slowly through all stores again and again, so that damage is found before somebody needs what is damaged, and
/// logs all that was found, also by requests.
struct ScrubService: Service {
  /// The rest after each piece of at most 256 documents, and after each store: 100 ms. So it takes a hundredth of one
  /// processor, and a day for some 800,000 stores.
  static let pause = Duration.milliseconds(100)
  /// The rest before the first look, and after one: 10 minutes.
  static let rest = Duration.seconds(600)
  /// How often what was found is logged: 5 seconds.
  private static let interval = Duration.seconds(5)

  let desk: BackupDesk
  let logger: Logger
  /// The rest between looks.
  var rest = ScrubService.rest

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while (try? await Task.sleep(for: rest)) != nil { await look() }
        }
        group.addTask {
          while (try? await Task.sleep(for: Self.interval)) != nil { log() }
        }
      }
    }
    log()
  }

  private func look() async {
    // What it finds in rows is logged with what requests find.
    let reporter = ScrubReporter { _ in
    } progress: { _, _ in
    }
    do {
      let repair = try await desk.repair(reporter, pause: Self.pause)
      if repair.damagedStores > 0 {
        logger.error(
          "stores are damaged and can't be opened; verify names them, repair makes them anew",
          metadata: ["stores": "\(repair.damagedStores)"])
      }
    } catch is CancellationError {
    } catch {
      logger.warning(
        "the stores could not be looked through",
        metadata: ["detail": "\(StartFailure.line(error))"])
    }
  }

  private func log() {
    for finding in desk.engine.takeDamageFound() {
      logger.error(
        "damage was found", metadata: ["file": "\(finding.file)", "detail": "\(finding.reason)"])
    }
  }
}
