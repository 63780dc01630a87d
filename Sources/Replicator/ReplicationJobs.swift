package import Documents
import Stores
import Synchronization

/// The replications of this server: those that run, and the continuous ones that wait after a failure.
///
/// Source: CouchDB, "POST /_replicate", "GET /_active_tasks", "GET /_scheduler/jobs".
package final class ReplicationJobs: Sendable {
  /// The most replications of the administrator that run at a time, and that requests have begun. A continuous one waits for
  /// changes over a connection of its own.
  package static let most = 200
  /// The most of people's remotes that run at a time, and that copy. They have places of their own, because anybody can have
  /// many accounts: what the administrator replicates waits for none of them.
  private static let (mostOfPeople, copyingOfPeople) = (100, 4)
  /// How many connections they need to this server: one for each that waits for changes, and those of the ones that copy.
  package static let connections =
    most + mostOfPeople + 16 * (ReplicationTurns.atOnce + copyingOfPeople)
  /// The wait after the first failure of a continuous replication; after each further one it is twice as long, up to the
  /// longest. A random part is subtracted, up to the half.
  static let pauses = Duration.seconds(5)...Duration.seconds(600)

  /// How many open their ends at once, of each of the two kinds.
  private static let openingAtOnce = 32

  /// How long one runs before it makes room for others that wait, as in CouchDB (`interval`).
  private static let placeLength = Duration.seconds(60)
  /// After how many of these a place of people is overdue that was not given back: 5 minutes.
  private static let mostPlaceLengths = 5

  /// The limits with their units, for `GET /v1/limits`.
  package static let limits = [
    (name: "replications", value: most, unit: "replications of the administrator at once"),
    (name: "remotes", value: mostOfPeople, unit: "remotes of people that run at once"),
    (name: "remotesCopying", value: copyingOfPeople, unit: "of them that copy at once"),
    (
      name: "remoteTurnSeconds", value: Int(ReplicationTurns.length / .seconds(1)),
      unit: "seconds that one copies while others wait"
    ),
    (
      name: "remotePlaceSeconds", value: Int(placeLength / .seconds(1)),
      unit: "seconds that one runs while others wait"
    ),
  ]

  /// How a replication ends: the answer of `_replicate` without `ok`, or why it failed.
  package typealias Outcome = Result<JSONObject, ReplicationFailure>

  /// What became of a request.
  package enum Reply: Sendable {
    /// A replication was ended. Its id, and what waits for its end.
    case cancelled(id: String, Task<Outcome, Never>)
    /// There is none to end.
    case absent
    case continuous(id: String)
    /// It runs once. Its id, and what waits for its end.
    case once(id: String, Task<Outcome, Never>)
  }

  /// What became of a document's replication.
  enum Beginning: Sendable {
    case begun
    /// The same one runs already: a document's, or nil for a request's.
    case taken(by: ReplicationJob.Reference?)
  }

  private let clients: PeerClients
  private let publishes: Bool
  private let administrators = Places(running: most, copying: ReplicationTurns.atOnce)
  private let people = Places(
    running: mostOfPeople, copying: copyingOfPeople, ofOne: PersonRemotes.Direction.allCases.count)
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// Who may run, and who of them may open their ends and copy.
  private struct Places: Sendable {
    let running: ReplicationTurns
    let opening: ReplicationTurns
    let copying: ReplicationTurns

    /// - Parameter mostOfOne: the most of one account.
    init(running: Int, copying: Int, ofOne mostOfOne: Int = .max) {
      self.running = ReplicationTurns(
        atOnce: running, ofOne: mostOfOne, length: placeLength, mostLengths: mostPlaceLengths)
      opening = ReplicationTurns(atOnce: openingAtOnce, ofOne: mostOfOne)
      self.copying = ReplicationTurns(atOnce: copying, ofOne: mostOfOne)
    }
  }

  private struct State {
    var jobs: [String: ReplicationJob] = [:]
    /// Those that were ended and have not noted yet how far they have come.
    var ending: [ReplicationJob] = []
    var isStopped = false
    var counts = Counts()
    /// The ids of the people's documents whose progress was not published yet.
    var unpublished: Set<String> = []

    /// Ends the one with an id.
    mutating func end(_ id: String) {
      guard let job = jobs.removeValue(forKey: id) else { return }
      ending.append(job)
      job.task.cancel()
    }
  }

  /// Is told of a replication that has ended by itself.
  typealias Completion = @Sendable (ReplicationJob) async -> Void

  /// What the replications have done since the start.
  package struct Counts: Sendable {
    package var started = 0
    package var failed = 0
    package var written = 0
    package var refused = 0
  }

  /// - Parameter publishes: whether other servers are told of the progress of people's remotes.
  package init(
    _ clients: PeerClients, publishes: Bool = false, now: @escaping @Sendable () -> Timestamp
  ) { (self.clients, self.publishes, self.now) = (clients, publishes, now) }

  /// Carries out a `POST /_replicate`.
  /// - Parameter server: the id of this server, which stays the same as long as its data exist.
  /// - Parameter user: who asks.
  /// - Throws: 400 `bad_request`; 429 if there are too many replications; 503 if the server is stopping.
  package func replicate(
    _ body: JSONNode, on server: String, by user: String? = nil
  ) throws -> Reply {
    if try ReplicationCancellation.isAsked(body) {
      let id = try ReplicationCancellation.id(in: body) ?? ReplicationRequest(body).id(on: server)
      // As in CouchDB, a document's, too. A person's remote ends by `/v1/sync` only.
      return end(id) { $0.request.person == nil }.map { .cancelled(id: id, $0) } ?? .absent
    }
    let request = try ReplicationRequest(body, by: user)
    let id = request.id(on: server)
    let task = try state.withLock { state throws(ServiceError) in
      let known = state.jobs[id]
      if let known, known.document != nil || known.request.isSame(as: request) { return known.task }
      guard !state.isStopped else {
        throw ServiceError(.unavailable, "The server is stopping", retryAfterSeconds: 1)
      }
      guard state.jobs.values.count(where: { $0.document == nil && $0.id != id }) < Self.most else {
        throw ServiceError(.overloaded, "At most \(Self.most) replications run at once")
      }
      // The same ends with another password, or with other options: it takes the place of the one that runs.
      state.end(id)
      return start(request, id, base: request.baseID(on: server), of: nil, nil, &state)
    }
    return request.isContinuous ? .continuous(id: id) : .once(id: id, task)
  }

  /// Begins the replication of a document. It goes on after failures, also if it runs once.
  /// - Parameter completion: is told when it has ended by itself.
  func begin(
    _ request: ReplicationRequest, on server: String, of document: ReplicationJob.Reference,
    _ completion: @escaping Completion
  ) -> Beginning {
    let (id, base) = (request.id(on: server), request.baseID(on: server))
    return state.withLock { state in
      if let job = state.jobs[id] { return .taken(by: job.document) }
      if !state.isStopped { _ = start(request, id, base: base, of: document, completion, &state) }
      return .begun
    }
  }

  private func start(
    _ request: ReplicationRequest, _ id: String, base: String,
    of document: ReplicationJob.Reference?, _ completion: Completion?, _ state: inout State
  ) -> Task<Outcome, Never> {
    state.counts.started += 1
    let number = state.counts.started
    let previous = state.ending.filter { $0.base == base }.map(\.task)
    // Detached: the job goes on after the request, whose work would end it.
    let task = Task.detached {
      for task in previous { _ = await task.value }
      let outcome = await self.attempts(
        at: request, id, number, base: base, isKept: completion != nil)
      if case .success = outcome, let job = self.job(id), job.number == number {
        await completion?(job)
      }
      self.remove(id, number)
      return outcome
    }
    let job = ReplicationJob(
      id: id, base: base, number: number, request, of: document, at: now(), task)
    state.jobs[id] = job
    noteChange(of: job, &state)
    return task
  }

  /// Ends a replication. The next one with its checkpoints waits until it has noted how far it has come.
  /// - Parameter isMeant: whether it is one that is to be ended.
  /// - Returns: what waits for its end; nil if there is none.
  func end(
    _ id: String, where isMeant: (ReplicationJob) -> Bool = { _ in true }
  ) -> Task<Outcome, Never>? {
    state.withLock { state in
      guard let job = state.jobs[id], isMeant(job) else { return nil }
      state.end(id)
      noteChange(of: job, &state)
      return job.task
    }
  }

  /// Whether a replication with this end may run here.
  func allows(_ endpoint: ReplicationEndpoint) -> Bool { clients.allows(endpoint) }

  /// Removes one that has ended. There may be another one of its id.
  private func remove(_ id: String, _ number: Int) {
    state.withLock { state in
      state.ending.removeAll { $0.number == number }
      guard let job = state.jobs[id], job.number == number else { return }
      state.jobs[id] = nil
      noteChange(of: job, &state)
    }
  }

  private func noteChange(of job: ReplicationJob, _ state: inout State) {
    guard publishes, job.request.person != nil, let id = job.document?.id else { return }
    state.unpublished.insert(id)
  }

  /// The ids of the people's documents whose progress has changed since the last call.
  func takeUnpublished() -> Set<String> {
    state.withLock { state in
      defer { state.unpublished = [] }
      return state.unpublished
    }
  }

  /// Whether there are any.
  var hasUnpublished: Bool { state.withLock { !$0.unpublished.isEmpty } }

  /// Gives back those that could not be published.
  func keepUnpublished(_ ids: some Sequence<String>) {
    state.withLock { $0.unpublished.formUnion(ids) }
  }

  /// Ends all replications, and starts no other one.
  package func stop() async {
    let tasks = state.withLock { state in
      state.isStopped = true
      return (state.jobs.values + state.ending).map(\.task)
    }
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.value }
    await clients.shutdown()
  }

  /// All replications, ordered by id.
  package var jobs: [ReplicationJob] { state.withLock { $0.jobs.values.sorted { $0.id < $1.id } } }

  package func job(_ id: String) -> ReplicationJob? { state.withLock { $0.jobs[id] } }

  package var counts: Counts { state.withLock { $0.counts } }

  /// Runs a replication: once, or again after each failure.
  /// - Parameter isKept: whether one that is not continuous runs again, too.
  private func attempts(
    at request: ReplicationRequest, _ id: String, _ number: Int, base: String, isKept: Bool
  ) async -> Outcome {
    let places = request.person == nil ? administrators : people
    let taken = try? await places.running.take(for: request.person)
    guard let place = taken else { return .failure(.cancelled) }
    defer { place.give() }
    var pause = Self.pauses.lowerBound
    while true {
      let began = ContinuousClock.now
      let failure: ReplicationFailure
      do {
        let replication = Replication(
          request: request, id: base, source: clients.peer(request.source, of: request.person),
          target: clients.peer(request.target, of: request.person), now: now,
          report: { [weak self] in self?.note($0, of: id, number) }, openings: places.opening,
          turns: places.copying, place: place)
        change(id, number) { $0.start(at: $1) }
        return .success(try await replication.run())
      } catch is CancellationError {
        return .failure(.cancelled)
      } catch is Replication.Displaced {
        change(id, number) { $0.stop(at: $1) }
        guard (try? await place.takeAgain()) != nil else { return .failure(.cancelled) }
        continue
      } catch { failure = error as? ReplicationFailure ?? .unexpected(error) }
      change(id, number, isFailure: true) { $0.crash(failure, at: $1) }
      guard request.isContinuous || isKept else { return .failure(failure) }
      place.give()
      // One that ran for long begins again with short pauses.
      if ContinuousClock.now - began > Self.pauses.upperBound { pause = Self.pauses.lowerBound }
      let wait = pause / 2 + pause * Double.random(in: 0...0.5)
      guard (try? await Task.sleep(for: wait)) != nil,
        (try? await place.takeAgain()) != nil
      else { return .failure(.cancelled) }
      pause = min(pause * 2, Self.pauses.upperBound)
    }
  }

  private func note(_ progress: Replication.Progress, of id: String, _ number: Int) {
    state.withLock { state in
      guard let job = state.jobs[id], job.number == number else { return }
      let (known, new) = (job.progress.statistics, progress.statistics)
      if job.hasProgress {
        state.counts.written += max(0, new.written - known.written)
        state.counts.refused += max(0, new.failures - known.failures)
      }
      state.jobs[id]?.note(progress, at: now())
      noteChange(of: job, &state)
    }
  }

  private func change(
    _ id: String, _ number: Int, isFailure: Bool = false,
    _ change: (inout ReplicationJob, Timestamp) -> Void
  ) {
    state.withLock { state in
      if isFailure { state.counts.failed += 1 }
      guard var job = state.jobs[id], job.number == number else { return }
      change(&job, now())
      state.jobs[id] = job
      noteChange(of: job, &state)
    }
  }
}

extension ReplicationFailure {
  static let cancelled = ReplicationFailure("cancelled", "The replication was ended")

  /// An error that no code expects. Only its type is named, because its text may contain anything.
  static func unexpected(_ error: any Error) -> ReplicationFailure {
    guard !(error is TooLongAnswer) else {
      return ReplicationFailure("bad_answer", "A server's answer was too long, or took too long")
    }
    return ReplicationFailure("internal_error", String(reflecting: type(of: error)))
  }
}
