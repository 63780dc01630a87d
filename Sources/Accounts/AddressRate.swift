import Documents
import Synchronization

/// A limit on how often one address may do something: never more than `count` times in any window of so
/// many seconds, wherever the window begins.
///
/// The generic cell rate algorithm (ITU-T I.371, annex A) with half of the count as burst and the other
/// half spread over the window, because a burst may always stand just before a window's steady flow.
/// It remembers a bounded number of addresses, those seen last.
final class AddressRate: Sendable {
  /// One step of the steady flow, in milliseconds.
  private let interval: Int64
  /// How far ahead of the steady flow an address may run, in milliseconds.
  private let tolerance: Int64
  /// When each address would be even with the steady flow again, in milliseconds since 1970.
  private let arrivals: Mutex<BoundedLRU<ClientAddress, Int64>>

  /// A limit of `count` (at least 1, at most a million) in `seconds`.
  init(count: Int, seconds: Int64) {
    let count = Int64(min(max(count, 1), 1_000_000))
    let burst = (count + 1) / 2
    let steady = max(1, count - burst)
    interval = (seconds * 1_000 + steady - 1) / steady
    tolerance = (burst - 1) * interval
    arrivals = Mutex(BoundedLRU(capacity: AccountSettings.trackedAddresses))
  }

  /// Counts one.
  /// - Throws: `tooMany`, with the seconds after which one more is right.
  func take(_ address: ClientAddress, at now: Timestamp) throws(AccountError) {
    let (interval, tolerance) = (interval, tolerance)
    let wait: Int64 = arrivals.withLock { arrivals in
      let now = now.milliseconds
      // A clock that was set back must not lock anybody out for longer than the limit itself does.
      let due = min(max(arrivals[address] ?? now, now), now + tolerance + interval)
      guard due - tolerance <= now else {
        arrivals[address] = due
        return due - tolerance - now
      }
      arrivals[address] = due + interval
      return 0
    }
    guard wait > 0 else { return }
    throw AccountError(
      .tooMany, "Too many requests from this address.",
      retryAfterSeconds: Int((wait + 999) / 1_000))
  }
}
