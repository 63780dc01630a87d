package import Documents
import FoundationEssentials

/// The one place that asks the system for the time of day.
package enum SystemClock {
  /// Now, to the millisecond.
  @Sendable package static func now() -> Timestamp {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
  }
}
