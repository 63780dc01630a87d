import IPAddresses
import Stores
import Synchronization

/// Limits guessing of one name's password from one address. Other names and addresses are not affected, so an
/// attacker can't lock out the owner, who uses another address.
///
/// After so many wrong passwords the name is locked for that address for 5 seconds. Each further wrong password
/// doubles the time, up to 5 minutes. A right password, or 15 minutes without a wrong one, clears the count. Time
/// is the machine's uptime, so that a change of the wall clock does not end a lockout.
final class Lockouts: Sendable {
  /// The name and address whose attempts are counted together.
  struct Key: Sendable, Hashable {
    /// The name that is tried.
    let name: UserName
    /// The address of the attempts.
    let address: ClientAddress
  }

  /// The outcome of an attempt.
  enum Outcome: Sendable {
    case right, wrong
    /// Not known: a store or the hashing failed.
    case unknown
  }

  private struct Count: Sendable {
    var failures = 0
    var inFlight = 0
    var lastFailure: ContinuousClock.Instant?
    var lockedUntil: ContinuousClock.Instant?
  }

  /// The shortest lockout.
  private static let shortest = Duration.seconds(5)
  /// The longest lockout.
  private static let longest = Duration.seconds(300)
  /// The time without failures after which the count is cleared.
  private static let memory = Duration.seconds(900)

  private let limit: Int
  private let counts: Mutex<BoundedLRU<Key, Count>>

  /// Makes a limit that locks after so many wrong passwords.
  init(failures: Int) {
    limit = max(1, failures)
    counts = Mutex(BoundedLRU(capacity: AccountSettings.trackedAddresses))
  }

  /// Starts an attempt. Attempts in progress count as failures until they end, so that parallel attempts allow no
  /// more guesses than sequential ones.
  /// - Throws: `lockedOut`.
  func begin(_ key: Key, at now: ContinuousClock.Instant) throws {
    let limit = limit
    let wait: Duration = counts.withLock { counts in
      var count = counts[key] ?? Count()
      if let last = count.lastFailure, now - last > Self.memory { count.failures = 0 }
      if count.failures > 0, let end = count.lockedUntil, end > now { return end - now }
      guard count.inFlight < max(1, limit - count.failures) else { return .seconds(1) }
      count.inFlight += 1
      counts[key] = count
      return .zero
    }
    guard wait > .zero else { return }
    throw ServiceError(
      .lockedOut, "Too many wrong passwords for this name from this address.",
      retryAfterSeconds: wait.secondsRoundedUp)
  }

  /// Ends an attempt that ``begin(_:at:)`` has allowed.
  func end(_ key: Key, _ outcome: Outcome, at now: ContinuousClock.Instant) {
    let limit = limit
    counts.withLock { counts in
      guard var count = counts[key] else { return }
      count.inFlight = max(0, count.inFlight - 1)
      switch outcome {
      case .right:
        count.failures = 0
        count.lockedUntil = nil
      case .wrong:
        count.failures += 1
        count.lastFailure = now
        if count.failures >= limit {
          let doublings = min(count.failures - limit, 6)
          count.lockedUntil = now + min(Self.shortest * (1 << doublings), Self.longest)
        }
      case .unknown:
        break
      }
      counts[key] = count.inFlight == 0 && count.failures == 0 ? nil : count
    }
  }
}

extension Duration {
  /// Whole seconds, rounded up, so that a caller that waits this long has waited long enough.
  var secondsRoundedUp: Int {
    let (seconds, rest) = components
    return Int(seconds) + (rest > 0 ? 1 : 0)
  }
}
