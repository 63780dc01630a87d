import Documents

/// One run of a replication: finds where the last one ended, copies what changed since then, and notes on both ends how
/// far it has come.
///
/// Source: CouchDB, "Replication protocol".
struct Replication: Sendable {
  /// How far a run has come.
  struct Progress: Sendable {
    var statistics = ReplicationStatistics()
    /// The sequence of the last change that is done with, as are all before it.
    var through: JSONValue = 0
    /// The last one that was read.
    var highest: JSONValue = 0
    /// That of the last checkpoint.
    var committed: JSONValue = 0
    /// How many changes of this run are done with, and how many bytes of documents and attachments were written.
    var changes = 0
    var bytes = 0
    /// When the run began.
    let began = ContinuousClock.now
    /// How many changes are not done with; nil if the source does not say.
    var pending: Int?
  }

  /// The error of a run that makes room for another one: a continuous one, or a person's. It begins again.
  struct Displaced: Error {}

  /// How many batches are copied at a time.
  static let batchesAtOnce = 2
  /// How often a run looks whether it is overdue.
  private static let lookPause = Duration.seconds(1)
  /// How long a run that ends before all is read may take to note how far it has come, as in CouchDB
  /// (`STOP_TIMEOUT_MSEC`).
  private static let lastPatience = Duration.seconds(5)

  let request: ReplicationRequest
  /// The id of the checkpoints, apart from the source's filter.
  let id: String
  var source: ReplicationPeer
  var target: ReplicationPeer
  let now: @Sendable () -> Timestamp
  /// Is told of the progress.
  let report: @Sendable (Progress) -> Void
  /// Where it waits until it may open its ends, and then for its turn to copy.
  let openings: ReplicationTurns
  let turns: ReplicationTurns
  /// Its place among those that run.
  let place: ReplicationTurns.Turn

  private typealias Batches = ThrowingTaskGroup<Batch.Result, any Error>

  /// Runs until all is read, or for ever if it is continuous.
  /// - Returns: the answer of `_replicate` without `ok`.
  /// - Throws: ``ReplicationFailure``; ``Displaced``; `CancellationError`. What the next run repeats changes nothing.
  func run() async throws -> JSONObject {
    let opening = try await openings.take(for: request.person)
    defer { opening.give() }
    // The wait for a turn is no use of the place.
    place.beginAgain()
    // A server that does not answer keeps nobody from copying.
    let begun: Run
    do { begun = try await unlessOverdue(opening) { try await begin() } } catch is Displaced {
      throw ReplicationFailure.unreachable(
        source.name + " and " + target.name, "they answer too slowly")
    }
    opening.give()
    report(begun.progress)
    let turn = try await turns.take(for: request.person)
    defer { turn.give() }
    place.beginAgain()
    return try await unlessOverdue(turn) { try await copyAll(begun, turn) }
  }

  /// Whether it ends at any time when it holds its turn or its place for far too long and others wait. Anybody can set a
  /// remote, and a server that answers slowly enough would keep all others from copying.
  private var isDisplaceable: Bool { request.person != nil }

  /// - Throws: ``Displaced``; the errors of the work.
  private func unlessOverdue<Value: Sendable>(
    _ turn: ReplicationTurns.Turn, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard isDisplaceable else { return try await work() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask { try await work() }
      group.addTask {
        while !turn.isOverdue, !place.isOverdue { try await Task.sleep(for: Self.lookPause) }
        throw Displaced()
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw CancellationError() }
      return value
    }
  }

  private func copyAll(_ begun: Run, _ turn: ReplicationTurns.Turn) async throws -> JSONObject {
    var run = begun
    do {
      return try await withThrowingTaskGroup(of: Batch.Result.self) { group in
        try await copy(&run, &group, turn)
      }
    } catch {
      turn.give()
      await lastCheckpoint(of: run)
      throw error
    }
  }

  /// Notes how far a run has come that has failed or was ended. Without it, a run that always fails after a while would
  /// always begin at the same place. Each request is sent once.
  private func lastCheckpoint(of ended: Run) async {
    // A task of its own, because the run's may be cancelled.
    let checkpoint = Task {
      var (hurried, run) = (self, ended)
      (hurried.source.attempts, hurried.target.attempts) = (1, 1)
      try? await hurried.checkpoint(&run)
    }
    let limit = Task {
      if (try? await Task.sleep(for: Self.lastPatience)) != nil { checkpoint.cancel() }
    }
    await checkpoint.value
    limit.cancel()
  }

  private func copy(
    _ run: inout Run, _ group: inout Batches, _ turn: ReplicationTurns.Turn
  ) async throws -> JSONObject {
    var size = BatchSize()
    // The changes that were there at the beginning, so that a source that always changes has an end.
    var rest: Int?
    while true {
      if request.isContinuous || isDisplaceable, place.isWanted { throw Displaced() }
      var none: PeerChanges?
      if run.isCurrent {
        // The wait needs no turn, so it keeps nothing in memory that another one could need.
        turn.give()
        none = try await source.noChanges(
          since: run.progress.highest, of: request, for: run.wait(request))
        try await turn.takeAgain()
      } else if turn.isWanted {
        while run.waiting.count >= Self.batchesAtOnce { try await settle(&group, &run, &size) }
        try await turn.takeAgain()
      }
      let changes = if let none { none } else { try await next(run.progress.highest, &size) }
      run.noteRead(changes.rows.count, following: changes.pending)
      rest = rest ?? changes.pending.map { $0 + changes.rows.count }
      rest = rest.map { $0 - changes.rows.count }
      let isRead =
        changes.rows.isEmpty || changes.pending == 0
        || (!request.isContinuous && rest.map { $0 <= 0 } ?? false)
      guard changes.rows.isEmpty || changes.last != run.progress.highest else {
        throw ReplicationFailure.badAnswer(source.name, "its changes do not go on")
      }
      run.progress.highest = changes.last
      // They were read while the batches before them were copied.
      while run.waiting.count >= Self.batchesAtOnce { try await settle(&group, &run, &size) }
      if !changes.rows.isEmpty {
        run.begin(Batch(rows: changes.rows, last: changes.last, of: self), in: &group)
      }
      run.isCurrent = isRead && request.isContinuous
      guard isRead || run.isDue(request) else { continue }
      while !run.waiting.isEmpty { try await settle(&group, &run, &size) }
      run.progress.through = changes.last
      // As in CouchDB, a run without a change leaves no checkpoint, but one that has left all changes out does.
      let isEmpty = !request.isContinuous && run.count == 0 && request.filter == .all
      if !isEmpty, !run.isCurrent || run.isDue(request) { try await checkpoint(&run) }
      report(run.progress)
      if isRead, !request.isContinuous { return run.answer }
    }
  }

  /// Reads changes, fewer at a time if their answer is too long.
  private func next(_ since: JSONValue, _ size: inout BatchSize) async throws -> PeerChanges {
    var limit = size.count
    while true {
      try Task.checkCancellation()
      do {
        return try await source.changes(since: since, limit: limit, of: request)
      } catch is TooLongAnswer {
        guard limit > 1 else {
          throw ReplicationFailure.badAnswer(source.name, "one change is too long")
        }
        limit = max(1, limit / 4)
        size.note(.zero, isSplit: true)
      }
    }
  }

  /// Waits for a batch.
  private func settle(
    _ group: inout Batches, _ run: inout Run, _ size: inout BatchSize
  ) async throws {
    guard let result = try await group.next() else { return }
    size.note(result.duration, isSplit: result.isSplit)
    run.finish(result)
    report(run.progress)
  }

  /// The state of a run.
  struct Run: Sendable {
    /// The id of the checkpoints.
    let id: String
    /// The code of the source's filter; nil without one.
    let code: String?
    let session: ReplicationSession
    let sourceTime: String
    let targetTime: String
    var sourceLog: ReplicationLog
    var targetLog: ReplicationLog
    var progress: Progress
    /// What `_replicate` answers.
    var answer: JSONObject
    /// Whether all changes are read, so that the source is asked to wait for the next one.
    var isCurrent = false
    /// The batches that are not done, in order, and those of them that are done before earlier ones.
    var waiting: [Int] = []
    var done: [Int: JSONValue] = [:]
    var count = 0
    /// How many changes follow those that were read, and how many of these are not done with.
    var following: Int?
    var open = 0
    var checkpointed = ContinuousClock.now

    /// Notes that changes were read.
    mutating func noteRead(_ count: Int, following: Int?) {
      self.following = following
      open += count
      progress.pending = following.map { $0 + open }
    }

    mutating func begin(
      _ batch: Batch, in group: inout ThrowingTaskGroup<Batch.Result, any Error>
    ) {
      let number = count
      count += 1
      waiting.append(number)
      group.addTask { try await batch.run(number) }
    }

    mutating func finish(_ result: Batch.Result) {
      progress.statistics = progress.statistics + result.statistics
      progress.changes += result.changes
      progress.bytes += result.bytes
      open -= result.changes
      progress.pending = following.map { $0 + open }
      done[result.number] = result.last
      while let first = waiting.first, let last = done.removeValue(forKey: first) {
        waiting.removeFirst()
        progress.through = last
      }
    }

    func isDue(_ request: ReplicationRequest) -> Bool {
      ContinuousClock.now - checkpointed >= request.checkpointInterval
    }

    mutating func noteCheckpoint() { checkpointed = .now }

    /// How long the source may wait for a change: until the next checkpoint, if there is something to note.
    func wait(_ request: ReplicationRequest) -> Duration {
      let waits = ReplicationPeer.waits
      guard request.usesCheckpoints, progress.through != progress.committed else {
        return waits.upperBound
      }
      let rest = request.checkpointInterval - (ContinuousClock.now - checkpointed)
      return min(max(rest, waits.lowerBound), waits.upperBound)
    }
  }

  /// Opens both ends and compares their checkpoints.
  private func begin() async throws -> Run {
    let sourceTime = try await source.open()
    let targetTime = try await target.open(creating: request.createsTarget ? request.creation : nil)
    let code = try await filterCode()
    var (logs, common) = ((ReplicationLog(), ReplicationLog()), (JSONValue(0), [JSONObject]()))
    var id = id
    if request.usesCheckpoints {
      // As in CouchDB, checkpoints say nothing about what a changed filter lets through.
      if let code { id = Hex.digest(of: id + " " + code, digits: 32) }
      logs = (try await source.log(id), try await target.log(id))
      common = ReplicationLog.common(source: logs.0, target: logs.1)
    }
    // As in CouchDB since 3.5.2, `since_seq` is where a replication begins that has no checkpoint.
    let since = common.0 == 0 ? request.since ?? common.0 : common.0
    let session = ReplicationSession(
      id: Hex.random(), began: now(), since: since,
      history: common.1, isByDocuments: request.isByDocuments)
    var progress = Progress()
    progress.statistics = ReplicationStatistics(common.1.first)
    (progress.through, progress.highest, progress.committed) = (since, since, since)
    var answer: JSONObject = ["no_changes": true]
    for (name, value) in logs.0.body.members { answer.append(name, value) }
    return Run(
      id: id, code: code, session: session, sourceTime: sourceTime, targetTime: targetTime,
      sourceLog: logs.0, targetLog: logs.1, progress: progress, answer: answer)
  }

  /// The code of the source's filter; nil without one.
  private func filterCode() async throws -> String? {
    guard case .named(let parameters) = request.filter else { return nil }
    return try await source.code(ofFilter: parameters["filter"] ?? "")
  }

  /// Notes on both ends how far the run has come, first at the source.
  /// - Throws: ``ReplicationFailure`` also if one of the databases is another one than at the beginning; ``Displaced`` if
  ///   the filter is another one, so that the next run reads what the former one had left out.
  private func checkpoint(_ run: inout Run) async throws {
    run.noteCheckpoint()
    if request.isContinuous, try await filterCode() != run.code { throw Displaced() }
    guard request.usesCheckpoints else {
      run.answer = ["use_checkpoints": false]
      return
    }
    guard run.progress.through != run.progress.committed else { return }
    async let sourceTime = source.commit()
    let targetTime = try await target.commit()
    let changed = [
      Self.isSame(try await sourceTime, run.sourceTime) ? nil : "source",
      Self.isSame(targetTime, run.targetTime) ? nil : "target",
    ].compactMap { $0 }
    guard changed.isEmpty else {
      throw ReplicationFailure.checkpoint(
        "instance_start_time on \(changed.joined(separator: " and ")) database has changed since last checkpoint."
      )
    }
    let log = run.session.log(upTo: run.progress.through, run.progress.statistics, at: now())
    run.sourceLog = try await source.save(log, of: run.session.id, after: run.sourceLog, id: run.id)
    run.targetLog = try await target.save(log, of: run.session.id, after: run.targetLog, id: run.id)
    run.answer = log
    run.progress.committed = run.progress.through
  }

  /// Whether two start times may be those of one database, as in CouchDB since 3.4: `"0"` says nothing.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || [one, other].contains(#""0""#)
  }
}

extension ReplicationRequest {
  var isByDocuments: Bool { if case .documents = filter { true } else { false } }
}
