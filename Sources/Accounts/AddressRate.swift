import Synchronization

/// A limit on how often one address may do something: never more than `count` times in any window of so
/// many seconds, wherever the window begins.
///
/// The generic cell rate algorithm (ITU-T I.371, annex A) with half of the count as burst and the other
/// half spread over the window, because a burst may always stand just before a window's steady flow.
/// Time is the machine's uptime, so that no step of the wall clock begins a new window.
/// It remembers a bounded number of addresses, those seen last.
final class AddressRate: Sendable {
  /// One step of the steady flow.
  private let interval: Duration
  /// How far ahead of the steady flow an address may run.
  private let tolerance: Duration
  /// When each address would be even with the steady flow again.
  private let arrivals: Mutex<BoundedLRU<ClientAddress, ContinuousClock.Instant>>

  /// A limit of `count` (at least 1, at most a million) in `seconds`.
  init(count: Int, seconds: Int64) {
    let count = Int64(min(max(count, 1), 1_000_000))
    let burst = (count + 1) / 2
    let steady = max(1, count - burst)
    interval = .milliseconds((seconds * 1_000 + steady - 1) / steady)
    tolerance = interval * (burst - 1)
    arrivals = Mutex(BoundedLRU(capacity: AccountSettings.trackedAddresses))
  }

  /// Counts one.
  /// - Throws: `tooMany`, with the seconds after which one more is right.
  func take(
    _ address: ClientAddress, at now: ContinuousClock.Instant
  ) throws(AccountError) {
    let (interval, tolerance) = (interval, tolerance)
    let wait: Duration = arrivals.withLock { arrivals in
      let due = max(arrivals[address] ?? now, now)
      let wait = now.duration(to: due) - tolerance
      if wait <= .zero { arrivals[address] = due + interval }
      return wait
    }
    guard wait > .zero else { return }
    throw AccountError(
      .tooMany, "Too many requests from this address.",
      retryAfterSeconds: wait.secondsRoundedUp)
  }
}
