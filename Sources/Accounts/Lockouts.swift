import Documents
import Synchronization

/// Slows down the guessing of one name's password from one address, and touches nobody else: whoever
/// guesses can't lock the owner out, who comes from another address.
///
/// After so many wrong passwords the name is locked for that address for 5 seconds, then twice as long
/// after each further one, 5 minutes at most. A right password, or 15 minutes of peace, clear the count.
final class Lockouts: Sendable {
  /// Whose attempts are counted together.
  struct Key: Sendable, Hashable {
    /// The name that is tried.
    let name: UserName
    /// Where from.
    let address: ClientAddress
  }

  /// How an attempt ended.
  enum Outcome: Sendable {
    case right, wrong
    /// Nobody knows: a store or the hashing failed.
    case unknown
  }

  private struct Count: Sendable {
    var failures = 0
    var inFlight = 0
    var lastFailure = Timestamp(milliseconds: 0)
    var lockedUntil = Timestamp(milliseconds: 0)
  }

  /// The first lock, in seconds.
  private static let shortest: Int64 = 5
  /// The longest lock, in seconds.
  private static let longest: Int64 = 300
  /// Seconds of peace after which failures are forgotten.
  private static let memory: Int64 = 900

  private let limit: Int
  private let counts: Mutex<BoundedLRU<Key, Count>>

  /// Locks after so many wrong passwords.
  init(failures: Int) {
    limit = max(1, failures)
    counts = Mutex(BoundedLRU(capacity: AccountSettings.trackedAddresses))
  }

  /// Begins an attempt. Attempts under way count as failures until they end, so that many at once get no
  /// more guesses than one after the other.
  /// - Throws: `lockedOut`.
  func begin(_ key: Key, at now: Timestamp) throws(AccountError) {
    let limit = limit
    let wait: Int64 = counts.withLock { counts in
      var count = counts[key] ?? Count()
      if count.lastFailure.adding(seconds: Self.memory) < now { count.failures = 0 }
      // A clock that was set back must not make a lock longer than it ever is.
      count.lockedUntil = min(count.lockedUntil, now.adding(seconds: Self.longest))
      if count.failures > 0, count.lockedUntil > now {
        counts[key] = count
        return count.lockedUntil.milliseconds - now.milliseconds
      }
      guard count.inFlight < max(1, limit - count.failures) else { return 1_000 }
      count.inFlight += 1
      counts[key] = count
      return 0
    }
    guard wait > 0 else { return }
    throw AccountError(
      .lockedOut, "Too many wrong passwords for this name from this address.",
      retryAfterSeconds: Int((wait + 999) / 1_000))
  }

  /// Ends an attempt that ``begin(_:at:)`` let through.
  func end(_ key: Key, _ outcome: Outcome, at now: Timestamp) {
    let limit = limit
    counts.withLock { counts in
      guard var count = counts[key] else { return }
      count.inFlight = max(0, count.inFlight - 1)
      switch outcome {
      case .right:
        count.failures = 0
        count.lockedUntil = Timestamp(milliseconds: 0)
      case .wrong:
        count.failures += 1
        count.lastFailure = now
        if count.failures >= limit {
          let doublings = Int64(min(count.failures - limit, 6))
          count.lockedUntil = now.adding(seconds: min(Self.shortest << doublings, Self.longest))
        }
      case .unknown:
        break
      }
      counts[key] = count.inFlight == 0 && count.failures == 0 ? nil : count
    }
  }
}
