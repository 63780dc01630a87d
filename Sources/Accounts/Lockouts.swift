import IPAddresses
import Stores
import Synchronization

/// Limits guessing of one name's password from one address. Other names and addresses are not affected, so an
/// attacker can't lock out the owner, who uses another address.
///
/// After so many different wrong passwords the name is locked for that address for 5 seconds. Each further one doubles
/// the time, up to 5 minutes, and in any hour ten are compared at most. A right password that is new at the address clears
/// the count, and so do 15 minutes without a wrong one, but not within an hour after a comparison while the name was
/// locked. Time is the machine's uptime, so that a change of the wall clock does not end a lockout.
///
/// A device with an old password, and a stranger at the same address, don't lock out anyone who has the right one:
/// - The same wrong password again is no guess. It is not even hashed while the stored password is the same one
///   (``isKnownWrong(_:_:against:)``).
/// - A password that was right at that address within the last week is always compared. It clears no count: otherwise its
///   owner's device would give a guesser at the same address new guesses all the time.
///
/// Passwords are known by keyed digests.
final class Lockouts: Sendable {
  /// The name and address whose attempts are counted together.
  struct Key: Sendable, Hashable {
    let name: UserName
    let address: ClientAddress
  }

  /// An attempt that ``begin(_:_:at:)`` has allowed.
  struct Attempt: Sendable {
    fileprivate let key: Key
    fileprivate let password: ProofKey
    fileprivate var isCountedInHour = false
    /// Whether the password was right at this address lately.
    fileprivate(set) var isProven = false
  }

  enum Outcome: Sendable {
    case right
    /// Wrong, compared with a stored password that has this mark.
    case wrong(against: UInt64)
    /// Not known: a store or the hashing failed.
    case unknown
  }

  private struct Count: Sendable {
    var failures = 0
    var inFlight = 0
    var lastFailure: ContinuousClock.Instant?
    var lockedUntil: ContinuousClock.Instant?
    /// When passwords were compared while the pair was locked, the oldest first.
    var compared: [ContinuousClock.Instant] = []
    /// The last different wrong passwords, the newest last, with the marks of what they were compared with.
    var wrong: [(password: ProofKey, mark: UInt64)] = []

    var isEmpty: Bool { failures == 0 && inFlight == 0 && compared.isEmpty && wrong.isEmpty }
  }

  private struct State: Sendable {
    var counts = BoundedLRU<Key, Count>(capacity: AccountSettings.trackedAddresses)
    /// The last right password of each pair. Apart from the counts, so that no flood of wrong ones removes them.
    var proven = BoundedLRU<Key, (password: ProofKey, time: ContinuousClock.Instant)>(
      capacity: AccountSettings.trackedAddresses)
  }

  private static let shortest = Duration.seconds(5)
  private static let longest = Duration.seconds(300)
  /// The time without failures after which the count is cleared.
  private static let memory = Duration.seconds(900)
  private static let hour = Duration.seconds(3_600)

  private let limit: Int
  private let state = Mutex(State())

  /// Makes a limit that locks after so many wrong passwords.
  init(failures: Int) { limit = max(1, failures) }

  /// Whether a password was among the last wrong ones of a pair, compared with the same stored password.
  /// - Parameter mark: the mark of the stored password; asked for only if the password was wrong before.
  func isKnownWrong(
    _ key: Key, _ password: ProofKey, against mark: () async throws -> UInt64
  ) async throws -> Bool {
    let known = state.withLock { state in
      state.counts[key]?.wrong.last { $0.password == password }?.mark
    }
    guard let known else { return false }
    return try await mark() == known
  }

  /// Notes that a password was set from an address.
  func prove(_ key: Key, _ password: ProofKey, at now: ContinuousClock.Instant) {
    state.withLock { $0.proven[key] = (password, now) }
  }

  /// Starts an attempt. Attempts in progress count as failures until they end, so that parallel attempts allow no
  /// more guesses than sequential ones.
  /// - Throws: `lockedOut`.
  func begin(_ key: Key, _ password: ProofKey, at now: ContinuousClock.Instant) throws -> Attempt {
    var attempt = Attempt(key: key, password: password)
    let wait: Duration = state.withLock { state in
      if let proven = state.proven[key], proven.password == password,
        now - proven.time <= .seconds(AccountSettings.provenLifetime)
      {
        attempt.isProven = true
        return .zero
      }
      var count = state.counts[key] ?? Count()
      count.compared.removeAll { now - $0 >= Self.hour }
      if let last = count.lastFailure, now - last > Self.memory, count.compared.isEmpty {
        count.failures = 0
      }
      guard count.inFlight < max(1, limit - count.failures) else { return .seconds(1) }
      if count.failures >= limit {
        let wait = Self.wait(count, at: now)
        guard wait <= .zero else { return wait }
        count.compared.append(now)
        attempt.isCountedInHour = true
      }
      count.inFlight += 1
      state.counts[key] = count
      return .zero
    }
    guard wait > .zero else { return attempt }
    throw ServiceError(
      .lockedOut, "Too many wrong passwords for this name from this address.",
      retryAfterSeconds: wait.secondsRoundedUp)
  }

  /// How long a locked pair has to wait for the next attempt.
  private static func wait(_ count: Count, at now: ContinuousClock.Instant) -> Duration {
    let rest = count.lockedUntil.map { $0 - now } ?? .zero
    guard count.compared.count >= AccountSettings.comparedWhileLocked,
      let oldest = count.compared.first
    else { return rest }
    return max(rest, oldest + Self.hour - now)
  }

  /// Ends an attempt.
  /// - Returns: whether it locks the name for the address.
  @discardableResult
  func end(_ attempt: Attempt, _ outcome: Outcome, at now: ContinuousClock.Instant) -> Bool {
    let key = attempt.key
    return state.withLock { state in
      var count = state.counts[key] ?? Count()
      if !attempt.isProven { count.inFlight = max(0, count.inFlight - 1) }
      switch outcome {
      case .right:
        state.proven[key] = (attempt.password, now)
        count.wrong.removeAll { $0.password == attempt.password }
        if !attempt.isProven {
          count.failures = 0
          count.lockedUntil = nil
          count.compared = []
        }
      case .wrong(let mark):
        if attempt.isProven { state.proven[key] = nil }
        count.wrong.removeAll { $0.password == attempt.password }
        count.wrong.append((attempt.password, mark))
        count.wrong = count.wrong.suffix(AccountSettings.rememberedWrongPasswords)
        count.failures += 1
        count.lastFailure = now
        if count.failures >= limit {
          let doublings = min(count.failures - limit, 6)
          count.lockedUntil = now + min(Self.shortest * (1 << doublings), Self.longest)
        }
      case .unknown:
        if attempt.isCountedInHour, !count.compared.isEmpty { count.compared.removeLast() }
      }
      state.counts[key] = count.isEmpty ? nil : count
      return count.lockedUntil.map { now < $0 } ?? false
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
