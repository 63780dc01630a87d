package import Documents
import FoundationEssentials

/// The only place that reads the system's wall clock.
package enum SystemClock {
  /// The present time, with milliseconds.
  @Sendable package static func now() -> Timestamp {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
  }
}
