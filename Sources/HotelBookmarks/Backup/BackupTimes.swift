import Documents
import Synchronization

/// When the newest regular backup was made, for metrics: an alarm tells of one that is overdue.
final class BackupTimes: Sendable {
  /// The seconds from the beginning of a backup to that of the next.
  private let period: Int64
  /// The newest whole backup in seconds since 1970, 0 if there is none; nil before the schedule has looked.
  private let newest = Mutex<Int64?>(nil)

  init(period: Int64) { self.period = period }

  /// Notes the time of the newest whole backup, nil if there is none.
  func note(_ time: Timestamp?) {
    newest.withLock { $0 = (time?.milliseconds ?? 0) / 1_000 }
  }

  var samples: [PrometheusSample] {
    guard let newest = newest.withLock({ $0 }) else { return [] }
    return [
      PrometheusSample("backup_newest_timestamp_seconds", .gauge, Double(newest)),
      PrometheusSample("backup_period_seconds", .gauge, Double(period)),
    ]
  }
}
