import Documents
import HTTPAPI
import Logging
import ServiceLifecycle

/// Makes backups at regular times, and removes the oldest ones.
struct BackupSchedule: Service {
  /// How often it looks whether a backup is due: each minute, so that a clock that is set does not matter.
  static let interval = Duration.seconds(60)
  /// The rest after a backup that failed, in seconds: 10 minutes.
  static let rest: Int64 = 600

  let backups: KeptBackups
  /// The seconds from the beginning of a backup to that of the next.
  let seconds: Int64
  /// How many whole backups are kept.
  let kept: Int
  /// Makes a backup as the administrator's own work, of which only one piece runs at a time, and then calls what it is
  /// given, unless something was damaged.
  /// - Returns: whether nothing was damaged.
  let make: @Sendable (_ removeOld: @escaping @Sendable () async -> Void) async throws -> Bool
  let logger: Logger
  let now: @Sendable () -> Timestamp
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var tried: Timestamp?
      while (try? await sleep(Self.interval)) != nil {
        let time = now()
        // A backup of a later time was made while the clock was wrong. It says nothing of when the next one is due.
        let last = await backups.all().first { $0.isWhole && $0.madeAt <= time }?.madeAt
        let isDue = last.map { $0.adding(seconds: seconds) <= time } ?? true
        let isResting = tried.map { time < $0.adding(seconds: Self.rest) && $0 <= time } ?? false
        guard isDue, !isResting else { continue }
        tried = await backUp() ? nil : time
      }
    }
  }

  /// - Returns: false if it failed. While the administrator's own work runs it is not tried.
  private func backUp() async -> Bool {
    do {
      let isSound = try await make(removeOld)
      if !isSound {
        logger.error("the regular backup lacks what is damaged; old backups were not removed")
      }
      return true
    } catch let problem as Problem where problem.error == Problem.jobRunning.error {
      return true
    } catch is CancellationError {
      return true
    } catch {
      logger.error(
        "the regular backup failed; it is tried again in ten minutes",
        metadata: ["detail": "\(StartFailure.line(error))"])
      return false
    }
  }

  /// A failure is logged alone: the backup is made.
  private func removeOld() async {
    do {
      let removed = try await backups.remove(keeping: kept, at: now())
      if removed.isEmpty { return }
      logger.info("old backups were removed", metadata: ["backups": "\(removed.count)"])
    } catch {
      logger.error(
        "old backups can't be removed", metadata: ["detail": "\(StartFailure.line(error))"])
    }
  }
}
