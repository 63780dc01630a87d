package import Documents
import Scheduling
import Stores
import Synchronization

/// Begins and ends the replications that the documents of a replicator database describe.
///
/// It reads the changes of the database: at the start all documents, so that what ran before goes on. Of several servers
/// that share the database, one does so. It says each ``beat`` that it is there. Another one takes over when that has
/// not been heard for ``patience``; clocks are not compared. Two that run the same replication for a moment do no harm.
package final class ReplicatorDocuments: Sendable {
  /// How often the owner says that it is there, and how often another server looks. A server by itself is told of all
  /// changes; it looks for what has failed before.
  private static let beat = Duration.seconds(3)
  private static let lonelyBeat = Duration.seconds(30)
  /// How long changes are read, and documents tried again, before the claim is renewed and progress is published: much less
  /// than the patience of others. Who writes documents all the time keeps nobody from that.
  private static let passLength = Duration.seconds(2)
  /// How often documents are tried again that could not be read or begun, how many are before changes are read again,
  /// and how many of them are reported in that time.
  private static let retryPause = Duration.seconds(30)
  private static let (retriesAtOnce, mostReports) = (100, 10)
  /// After how long a silent owner loses the replications.
  private static let patience = Duration.seconds(12)

  let database: ReplicatorDatabase
  let jobs: ReplicationJobs
  private let seal: CredentialSeal
  let isShared: Bool
  private let server: @Sendable () async throws -> String?
  private let now: @Sendable () -> Timestamp
  private let node: String
  let state = Mutex(State())
  private let signals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  struct State {
    /// Up to which change the documents are known, and in which database.
    var since: Int64 = 0
    var epoch: String?
    var documents: [String: ReplicatorDocument] = [:]
    /// Those that could not be read or begun, those of them that are tried again now, and when all are again.
    var failed: Set<String> = []
    var retried: [String] = []
    var retry = ContinuousClock.now
    /// How many failures were reported since then.
    var reports = 0
    /// The owner of a shared database, and since when that was heard.
    var owner: ReplicatorDatabase.Owner?
    var heard = ContinuousClock.now
  }

  /// - Parameter isShared: whether other servers may begin the replications.
  /// - Parameter server: reads the id of this server.
  package init(
    _ database: ReplicatorDatabase, _ jobs: ReplicationJobs, _ seal: CredentialSeal,
    isShared: Bool, server: @escaping @Sendable () async throws -> String?,
    now: @escaping @Sendable () -> Timestamp
  ) {
    (self.database, self.jobs, self.seal) = (database, jobs, seal)
    (self.isShared, self.server, self.now) = (isShared, server, now)
    node = Hex.random()
  }

  /// Tells that documents were written.
  package func noteChange() { signals.continuation.yield() }

  /// Follows the database until the task is cancelled.
  /// - Parameter report: is told once of each document that can't be read or begun.
  package func run(report: @escaping @Sendable (Failure) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        let beat = self.isShared ? Self.beat : Self.lonelyBeat
        repeat { self.noteChange() } while (try? await Task.sleep(for: beat)) != nil
      }
      for await _ in signals.stream where !Task.isCancelled {
        // The next beat repeats what failed.
        do { try await follow(report) } catch { continue }
      }
      group.cancelAll()
    }
    guard isShared else { return }
    // Another server goes on where these have noted that they are.
    await reset(to: nil)
    try? await database.release(as: node)
  }

  /// Why a document's replication does not run.
  package struct Failure: Sendable {
    /// The number of the document's change in the database.
    package let change: Int64
    package let database: String
    package let error: any Error
  }

  /// Reads what has changed, for as long as a pass may take.
  private func follow(_ report: @Sendable (Failure) -> Void) async throws {
    let isOwner = try await owns()
    let end = ContinuousClock.now + Self.passLength
    while let page = try await database.changes(after: state.withLock(\.since)) {
      if state.withLock({ $0.epoch != page.epoch }) {
        await reset(to: page.epoch)
        continue
      }
      for document in page.documents {
        await take(document, isOwner, report)
        state.withLock { $0.since = document.sequence }
        if ContinuousClock.now >= end { break }
      }
      let isOver = !page.documents.isEmpty && ContinuousClock.now >= end
      guard page.documents.isEmpty || isOver else { continue }
      try await tryAgain(isOwner, report)
      if isShared, isOwner, database.name == .remotes { try await publish() }
      // The next pass renews the claim and goes on.
      if isOver { noteChange() }
      return
    }
    await reset(to: nil)
  }

  /// Reads those documents again that could not be read or begun, each by itself.
  private func tryAgain(_ isOwner: Bool, _ report: @Sendable (Failure) -> Void) async throws {
    let now = ContinuousClock.now
    var ids = state.withLock { state -> [DocumentID] in
      if state.retried.isEmpty, state.retry <= now {
        (state.retried, state.retry) = (Array(state.failed), now + Self.retryPause)
        state.reports = 0
      }
      let ids = state.retried.suffix(Self.retriesAtOnce)
      state.retried.removeLast(ids.count)
      return ids.compactMap { state.documents[$0]?.id }
    }
    while let id = ids.popLast() {
      let content: Result<Document, any Error>
      do {
        guard let document = try await database.document(id) else {
          keep(nil, of: id)
          continue
        }
        content = .success(document)
      } catch { content = .failure(error) }
      await take(.init(id: id, sequence: 0, content: content), isOwner, report)
      try await Slice.giveWay()
      if ContinuousClock.now >= now + Self.passLength { break }
    }
    let rest = ids.map(\.text)
    let hasMore = state.withLock { state in
      state.retried += rest
      return !state.retried.isEmpty
    }
    if hasMore { noteChange() }
  }

  /// Whether this server begins the replications.
  private func owns() async throws -> Bool {
    guard isShared else { return true }
    let (known, heard) = state.withLock { ($0.owner, $0.heard) }
    let isSilent = ContinuousClock.now - heard > Self.patience
    guard let owner = try await database.claim(as: node, from: isSilent ? known : nil) else {
      return false
    }
    let isOwner = owner.node == node
    let hasChanged = state.withLock { state in
      if state.owner != owner { state.heard = .now }
      defer { state.owner = owner }
      return isOwner != (state.owner?.node == node)
    }
    if hasChanged { await reset(to: nil) }
    return isOwner
  }

  /// Forgets all documents and ends their replications.
  private func reset(to epoch: String?) async {
    let ended = state.withLock { state -> [ReplicatorDocument] in
      defer {
        (state.since, state.epoch, state.documents) = (0, epoch, [:])
        (state.failed, state.retried) = ([], [])
      }
      return Array(state.documents.values)
    }
    let tasks = ended.compactMap(end)
    for task in tasks { _ = await task.value }
  }

  /// Ends a document's replication, unless a request has ended it and begun it again.
  private func end(_ document: ReplicatorDocument) -> Task<ReplicationJobs.Outcome, Never>? {
    guard document.note == nil, let job = document.job else { return nil }
    return jobs.end(job) { $0.document == reference(to: document) }
  }

  private func reference(to document: ReplicatorDocument) -> ReplicationJob.Reference {
    .init(database: database.name.text, id: document.id.text)
  }

  /// Begins what a document describes. What fails concerns this document only, and is tried again.
  private func take(
    _ changed: ReplicatorDatabase.Changed, _ isOwner: Bool, _ report: @Sendable (Failure) -> Void
  ) async {
    let id = changed.id
    let known = state.withLock { $0.documents[id.text] }
    if let known { _ = end(known) }
    var document = ReplicatorDocument(unreadable: id, at: now())
    do {
      let stored = try changed.content.get()
      guard !stored.isDeleted, !stored.id.isDesign else { return keep(nil, of: id) }
      let body = try ParsedJSON(stored.body, limits: .stored).root
      document = ReplicatorDocument(stored, body)
      if isOwner, document.note == nil {
        do { document.job = try await begin(document, body) } catch let error as ServiceError
          where error.isOfDocument
        {
          document.trouble = .init(error)
          try await note("failed", ["_replication_state_reason": .string(error.reason)], document)
        }
      }
    } catch {
      guard !Task.isCancelled else { return }
      let trouble = document.trouble ?? .init(error)
      document.trouble = trouble
      if known?.trouble != trouble, mayReport() {
        report(Failure(change: changed.sequence, database: database.name.text, error: error))
      }
      return keep(document, of: id, hasFailed: true)
    }
    keep(document, of: id)
  }

  private func mayReport() -> Bool {
    state.withLock { state in
      state.reports += 1
      return state.reports <= Self.mostReports
    }
  }

  private func keep(_ document: ReplicatorDocument?, of id: DocumentID, hasFailed: Bool = false) {
    state.withLock { state in
      state.documents[id.text] = document
      if hasFailed { state.failed.insert(id.text) } else { state.failed.remove(id.text) }
    }
  }

  /// Begins a replication.
  /// - Returns: its id.
  /// - Throws: 400 and 501 for a document that is wrong; 503 while a request's replication is the same.
  private func begin(_ document: ReplicatorDocument, _ body: JSONNode) async throws -> String {
    let request = try ReplicationRequest(try await seal.opened(body), own: try own(document, body))
    try Self.checkContext(body["user_ctx"], request)
    guard let server = try await server() else {
      throw ServiceError(.unavailable, "The server has no id yet")
    }
    let id = request.id(on: server)
    let beginning = jobs.begin(request, on: server, of: reference(to: document)) {
      [weak self] in await self?.complete(document, $0)
    }
    guard case .taken(let other) = beginning else { return id }
    let words = "Replication `\(id)` specified by document `\(document.id.text)` already "
    guard let other else {
      // It is tried again: the request's may end at any time.
      throw ServiceError(
        .unavailable,
        words + "running as a transient replication, started via `_replicate` API endpoint")
    }
    throw ServiceError.badRequest(
      words + "started, triggered by document `\(other.id)` from db `\(other.database)`")
  }

  /// The end that is a person's own store; nil in the administrator's database.
  private func own(
    _ document: ReplicatorDocument, _ body: JSONNode
  ) throws -> ReplicationEndpoint? {
    guard database.name == .remotes else { return nil }
    let id = AccountID(String(document.id.text.prefix { $0 != "/" }))
    guard let id, let name = body["name"]?.string else {
      throw ServiceError.badRequest("The person is unknown")
    }
    return ReplicationEndpoint(ownOf: .init(id: id, name: name))
  }

  /// The requests to this server's databases are the administrator's, so that no other context can be kept.
  private static func checkContext(_ context: JSONNode?, _ request: ReplicationRequest) throws {
    guard let context, !context.isNull, request.isLocal else { return }
    let roles = context["roles"]?.elements.compactMap(\.string) ?? []
    guard !roles.contains("_admin") else { return }
    throw ServiceError.badRequest("`user_ctx` without the role `_admin` is not offered here")
  }

  private func complete(_ document: ReplicatorDocument, _ job: ReplicationJob) async {
    var statistics = database.name == .remotes ? job.plainCounts : job.info
    if database.name == .replicator {
      statistics.append("start_time", .string(job.startedAt.rfc3339Seconds))
    }
    var pause = ReplicationJobs.pauses.lowerBound
    while !Task.isCancelled {
      let members: JSONObject = ["_replication_stats": .object(statistics)]
      if (try? await note("completed", members, document)) != nil { return }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, ReplicationJobs.pauses.upperBound)
    }
  }

  private func note(
    _ name: String, _ members: JSONObject, _ document: ReplicatorDocument
  ) async throws {
    var noted: JSONObject = [
      "_replication_state": .string(name), "_replication_state_time": .string(now().rfc3339Seconds),
    ]
    for (name, value) in members.members { noted.append(name, value) }
    guard let revision = document.revision else { return }
    try await database.note(noted, in: document.id, revision)
    noteChange()
  }
}

extension ServiceError {
  /// Whether a document is wrong, so that it says so until it is changed.
  fileprivate var isOfDocument: Bool { [.badRequest, .notImplemented, .forbidden].contains(code) }
}
