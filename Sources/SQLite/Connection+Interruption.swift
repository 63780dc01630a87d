import CSQLite
import Synchronization

/// Says, from any thread, that what runs on a ``Connection`` is not wanted any more.
package final class InterruptionFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  /// A flag that is not raised.
  package init() {}

  /// Raises the flag for good.
  package func raise() { flag.store(true, ordering: .relaxed) }

  /// Whether the flag is raised.
  package var isRaised: Bool { flag.load(ordering: .relaxed) }
}

extension Connection {
  /// Steps of SQLite's machine between two looks at the clock: about a tenth of a millisecond, or some where each row
  /// takes a full-text search far. <https://sqlite.org/c3ref/progress_handler.html>
  private static let steps: Int32 = 200

  /// When statements have to end, for SQLite to ask while they run.
  private final class Bound: Sendable {
    let end: ContinuousClock.Instant
    let flag: InterruptionFlag

    init(_ end: ContinuousClock.Instant, _ flag: InterruptionFlag) {
      self.end = end
      self.flag = flag
    }

    var isReached: Bool { flag.isRaised || ContinuousClock.now >= end }
  }

  /// Runs `body`, whose statements on this connection end at an instant, or when a flag is raised, whichever is
  /// first. Not to be called inside itself.
  /// - Throws: what `body` throws; its statements throw `interrupted`.
  package func bounded<Result>(
    until end: ContinuousClock.Instant, or flag: InterruptionFlag,
    _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    let database = try open
    let bound = Bound(end, flag)
    guard !bound.isReached else {
      throw SQLiteError(.interrupted, message: "ended before it began")
    }
    sqlite3_progress_handler(
      database, Self.steps,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Bound>.fromOpaque(context).takeUnretainedValue().isReached ? 1 : 0
      }, Unmanaged.passUnretained(bound).toOpaque())
    defer {
      sqlite3_progress_handler(database, 0, nil, nil)
      withExtendedLifetime(bound) {}
    }
    return try body()
  }
}
