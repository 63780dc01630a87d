import Accounts
import Documents
import Hotels
import Logging
import ServiceLifecycle
import Stores

/// Finishes failed adoptions of guests' data. Then visits all stores, one after the other, and removes what no one can
/// use any more: guests' stores without a valid token, records of such guests, tombstones of accounts, what stores keep
/// for a limited time, and old tombstones. A guest's store is opened only if the guest may have been away long enough
/// for its removal.
///
/// Servers that share a database share the rounds: one that finds that another has begun a round lets it do the work.
/// A round begins a day after the previous one, and continues after a restart of the server. Between two stores the
/// sweeper rests longer than it has worked, so that it takes at most a twentieth of one processor.
struct Sweeper: Sendable {
  /// How often the sweeper checks whether a round is due, and how long it waits after the start: 20 seconds.
  static let interval = Duration.seconds(20)
  /// The time between the beginnings of two rounds, in seconds: a day.
  static let roundSeconds: Int64 = 86_400
  /// The shortest rest between two stores: 20 milliseconds.
  static let rest = Duration.milliseconds(20)
  /// How many times longer a rest is than the work before it.
  static let restFactor = 19
  /// How many names of stores are read at once.
  static let batch = 100

  let accounts: AccountService
  let hotels: HotelService
  let engine: any StorageEngine
  let counts: SweepCounts
  let logger: Logger
  /// The seconds after which deleted documents are forgotten.
  let tombstoneSeconds: Int64
  /// The wall clock.
  let now: @Sendable () -> Timestamp
  /// A clock that no change of the wall clock affects.
  let uptime: @Sendable () -> ContinuousClock.Instant
  /// Waits; returns false if the task is cancelled.
  let sleep: @Sendable (Duration) async -> Bool

  /// Sweeps until the task is cancelled.
  func run() async {
    var progress: SweepProgress?
    let start = uptime()
    while await sleep(Self.interval) {
      do {
        var next: SweepProgress
        if let progress {
          next = progress
        } else {
          next = SweepProgress(try await accounts.sweepState(), since: start)
        }
        // What was reached is not visited again after an error.
        defer { progress = next }
        next.advance(to: now(), uptime())
        if engine.isShared, next.isDue(at: now()), next.state.position == nil {
          next.learn(of: try await accounts.sweepState().begun)
        }
        if next.isDue(at: now()) {
          let before = next
          do { try await sweep(&next) } catch {
            // A round that has reached nothing is begun again, and not only after a day.
            if next.state.position == nil {
              next = before
              if engine.isShared { try? await accounts.save(before.state) }
            }
            throw error
          }
        }
        try await note(&next)
      } catch {
        guard !Task.isCancelled else { return }
        counts.fail()
        logger.warning("the sweep failed and will be repeated", metadata: ["detail": "\(error)"])
      }
    }
  }

  /// Runs one round, or the rest of one.
  /// - Throws: the errors of the system store. A store that fails is left for the next round.
  func sweep(_ progress: inout SweepProgress) async throws {
    progress.begin(at: now())
    if engine.isShared { try await accounts.save(progress.state) }
    var remains = Remains()
    guard let beingAdopted = try await finishAdoptions() else { return }
    while let names = try await names(after: progress.state.position), !names.isEmpty {
      let begun = uptime()
      let resting = try await accounts.restingGuests(among: names)
      remains.add(Remains(kept: [.guests: resting.count]))
      guard await sleep(Self.rest(after: uptime() - begun)) else { return }
      var rests: [AccountID: Timestamp] = [:]
      for name in names where !resting.contains(name) {
        let begun = uptime()
        remains.add(await visit(name, progress.state, beingAdopted, &rests))
        guard await sleep(Self.rest(after: uptime() - begun)) else { return }
      }
      try await accounts.rest(rests)
      progress.reach(names.last?.key)
      progress.advance(to: now(), uptime())
      try await note(&progress)
    }
    guard try await sweepNotes(progress.state, beingAdopted, &remains) else { return }
    progress.reach(nil)
    counts.end(remains)
  }

  /// Copies the data of guests whose adoption failed when the user signed up or logged in.
  /// - Returns: the adoptions, whose guests' stores must stay for this round; nil if the task was cancelled.
  private func finishAdoptions() async throws -> OpenAdoptions? {
    let adoptions = try await accounts.openAdoptions()
    for adoption in adoptions.all {
      let begun = uptime()
      do { try await accounts.finish(adoption) } catch {
        counts.fail()
        logger.warning(
          "a guest's data can't be copied to the user yet", metadata: ["detail": "\(error)"])
      }
      guard await sleep(Self.rest(after: uptime() - begun)) else { return nil }
    }
    return adoptions
  }

  /// The next stores, of one namespace; nil at the end. A visit finishes an erasure that was interrupted.
  private func names(after key: String?) async throws -> [StoreName]? {
    let reached = key.flatMap(StoreName.init(key:))?.namespace
    for namespace in StoreName.namespaces {
      if let reached, namespace.precedesBytes(of: reached) { continue }
      let isReached = reached.map { $0.equalsBytes(of: namespace) } ?? false
      let names = try await engine.names(
        in: namespace, after: isReached ? key : nil, limit: Self.batch, includingErased: true)
      if !names.isEmpty { return names }
    }
    return nil
  }

  /// Sweeps one store.
  /// - Parameter rests: receives the time until which a guest's store needs no visit.
  private func visit(
    _ name: StoreName, _ state: SweepState, _ beingAdopted: OpenAdoptions,
    _ rests: inout [AccountID: Timestamp]
  ) async -> Remains {
    var remains = Remains()
    do {
      var rest: Timestamp?
      if case .guest(let id) = name {
        switch try await accounts.sweep(guest: id, by: state, beingAdopted: beingAdopted) {
        case .erased:
          remains.removed[.guests] = 1
          counts.countVisit(remains)
          return remains
        case .kept(let moment):
          remains.kept[.guests] = 1
          rest = moment
        }
      }
      let (now, seconds) = (now(), tombstoneSeconds)
      remains.add(
        try await hotels.maintain(name, at: state.clock.moment(at: now)) { deleted in
          state.clock.isOver(deleted, for: seconds, at: now)
        })
      if case .guest(let id) = name { rests[id] = rest }
    } catch {
      counts.fail()
      if !Task.isCancelled {
        logger.debug("a store can't be swept now", metadata: ["detail": "\(error)"])
      }
    }
    counts.countVisit(remains)
    return remains
  }

  /// - Returns: false if the task was cancelled before the end.
  private func sweepNotes(
    _ state: SweepState, _ beingAdopted: OpenAdoptions, _ remains: inout Remains
  ) async throws -> Bool {
    var (last, unreadable): (String?, Int) = (nil, 0)
    repeat {
      let begun = uptime()
      let (found, next, damaged) = try await accounts.sweepNotes(
        after: last, by: state, beingAdopted: beingAdopted)
      unreadable += damaged
      remains.add(found)
      counts.countRemoved(found)
      last = next
      guard await sleep(Self.rest(after: uptime() - begun)) else { return false }
    } while last != nil
    if unreadable > 0 {
      logger.error("records of accounts can't be read", metadata: ["detail": "\(unreadable)"])
    }
    return true
  }

  /// Saves the progress from time to time, if there are any stores.
  private func note(_ progress: inout SweepProgress) async throws {
    guard counts.storeCount > 0, progress.isNoteDue(at: uptime()) else { return }
    try await accounts.save(progress.state)
    progress.noteSaved(at: uptime())
  }

  private static func rest(after work: Duration) -> Duration { max(rest, work * restFactor) }
}

/// The progress of the sweeper in this process, and the part of it that is saved on the disk.
struct SweepProgress: Sendable {
  /// How often the progress is saved: every 10 minutes. After a stop at most this much work is repeated.
  static let noteInterval = Duration.seconds(600)

  private(set) var state: SweepState
  private var saved: SweepState
  /// When the state was last advanced, by the uptime's clock; a whole number of seconds after the start.
  private var advanced: ContinuousClock.Instant
  private var lastNote: ContinuousClock.Instant

  /// The progress that was read from the disk.
  /// - Parameter start: when the sweeper of this process began.
  init(_ state: SweepState, since start: ContinuousClock.Instant) {
    (self.state, saved) = (state, state)
    (advanced, lastNote) = (start, start)
  }

  /// Advances the sweep clock towards the wall clock, by at most twice the time for which the server has run.
  mutating func advance(to now: Timestamp, _ uptime: ContinuousClock.Instant) {
    let seconds = max(0, (uptime - advanced).components.seconds)
    advanced += .seconds(seconds)
    state.clock.advance(to: now, afterRunning: seconds)
  }

  /// Whether a round has to begin or to continue. A wall clock that was set back before the last begin causes a new
  /// round.
  func isDue(at now: Timestamp) -> Bool {
    guard state.position == nil, let begun = state.begun else { return true }
    return now < begun || begun.adding(seconds: Sweeper.roundSeconds) <= now
  }

  /// Begins a round, unless one has to continue.
  mutating func begin(at now: Timestamp) {
    if state.position == nil { state.begun = now }
  }

  /// Notes that another process has begun a round.
  mutating func learn(of begun: Timestamp?) {
    guard let begun else { return }
    state.begun = max(state.begun ?? begun, begun)
  }

  /// Notes the last visited store of a round; nil at the end of the round.
  mutating func reach(_ key: String?) { state.position = key }

  /// Whether there is something to save and enough time has passed.
  func isNoteDue(at uptime: ContinuousClock.Instant) -> Bool {
    uptime - lastNote >= Self.noteInterval && state != saved
  }

  /// Notes that the state is saved.
  mutating func noteSaved(at uptime: ContinuousClock.Instant) {
    saved = state
    lastNote = uptime
  }
}

/// Sweeps while the server runs, and ends at once when the server stops.
struct SweepService: Service {
  let sweeper: Sweeper

  func run() async throws { await cancelWhenGracefulShutdown { await sweeper.run() } }
}
