import Documents
import HTTPAPI
import Logging
import ServiceLifecycle
import Synchronization

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
  /// What the metrics tell of the backups.
  let times: BackupTimes
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var (tried, cancelled): (Timestamp?, Timestamp?)
      while (try? await sleep(Self.interval)) != nil {
        let time = now()
        // A backup of a later time was made while the clock was wrong. It says nothing of when the next one is due.
        let last = await backups.all().first { $0.isWhole && $0.madeAt <= time }?.madeAt
        times.note(last)
        let isDue = last.map { $0.adding(seconds: seconds) <= time } ?? true
        func isResting(since moment: Timestamp?, for seconds: Int64) -> Bool {
          moment.map { time < $0.adding(seconds: seconds) && $0 <= time } ?? false
        }
        guard isDue, !isResting(since: tried, for: Self.rest),
          !isResting(since: cancelled, for: seconds)
        else { continue }
        (tried, cancelled) = (nil, nil)
        switch await backUp() {
        case .done: break
        case .failed: tried = time
        case .cancelled: cancelled = time
        }
      }
    }
  }

  private enum Attempt {
    /// It was made, or the administrator's own work runs, for which it waits.
    case done
    case failed
    /// The administrator has cancelled it, or the server stops.
    case cancelled
  }

  private func backUp() async -> Attempt {
    do {
      let isSound = try await make(removeOld)
      if !isSound {
        logger.error("the regular backup lacks what is damaged; old backups were not removed")
      }
      return .done
    } catch let problem as Problem where problem.error == Problem.jobRunning.error {
      return .done
    } catch is CancellationError {
      return .cancelled
    } catch {
      logger.error("the regular backup failed; it is tried again in ten minutes", error)
      return .failed
    }
  }

  /// A failure is logged alone: the backup is made.
  private func removeOld() async {
    do {
      let removed = try await backups.remove(keeping: kept, at: now())
      if removed.isEmpty { return }
      logger.info("old backups were removed", metadata: ["backups": "\(removed.count)"])
    } catch {
      logger.error("old backups can't be removed", error)
    }
  }
}

extension BackupSchedule {
  /// A schedule whose backups are jobs of the administrator's.
  init(
    backups: KeptBackups, seconds: Int64, kept: Int, by administration: any ServerAdministration,
    times: BackupTimes, logger: Logger
  ) {
    self.init(
      backups: backups, seconds: seconds, kept: kept,
      make: { removeOld in
        let (job, failure) = try await administration.jobs.run(.backup) { report in
          let outcome = try await administration.perform(.backup(to: nil), report)
          if !outcome.isDamaged { await removeOld() }
          return outcome
        }
        if let failure { throw failure }
        return !job.isDamaged
      },
      // The names of backups are this machine's times, also of a database's.
      logger: logger, now: SystemClock.now, times: times)
  }
}

/// When the newest regular backup was made, for metrics: an alarm tells of one that is overdue.
final class BackupTimes: Sendable {
  /// The seconds from the beginning of a backup to that of the next.
  private let period: Int64
  /// The newest whole backup in seconds since 1970, 0 if there is none; nil before the schedule has looked.
  private let newest = Mutex<Int64?>(nil)

  init(period: Int64) { self.period = period }

  /// Notes the time of the newest whole backup, nil if there is none.
  func note(_ time: Timestamp?) { newest.withLock { $0 = (time?.milliseconds ?? 0) / 1_000 } }

  var samples: [PrometheusSample] {
    guard let newest = newest.withLock({ $0 }) else { return [] }
    return [
      PrometheusSample("backup_newest_timestamp_seconds", .gauge, Double(newest)),
      PrometheusSample("backup_period_seconds", .gauge, Double(period)),
    ]
  }
}
