package import Documents
package import JSON
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
  /// After how long a silent owner loses the replications.
  private static let patience = Duration.seconds(12)

  private let database: ReplicatorDatabase
  private let jobs: ReplicationJobs
  private let seal: CredentialSeal
  private let isShared: Bool
  private let server: @Sendable () async throws -> String?
  private let now: @Sendable () -> Timestamp
  private let node: String
  private let state = Mutex(State())
  private let signals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  private struct State {
    /// Up to which change the documents are known, and in which database.
    var since: Int64 = 0
    var epoch: String?
    var documents: [String: ReplicatorDocument] = [:]
    /// What other servers know of the progress.
    var published: [String: JSONObject] = [:]
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
    var generator = SystemRandomNumberGenerator()
    node = Hex.string(generator.next(), generator.next())
  }

  /// Tells that documents were written.
  package func noteChange() { signals.continuation.yield() }

  /// Follows the database until the task is cancelled.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        let beat = self.isShared ? Self.beat : Self.lonelyBeat
        repeat { self.noteChange() } while (try? await Task.sleep(for: beat)) != nil
      }
      for await _ in signals.stream where !Task.isCancelled {
        // The next beat repeats what failed.
        do { try await follow() } catch { continue }
      }
      group.cancelAll()
    }
    if isShared { try? await database.release(as: node) }
  }

  private func follow() async throws {
    let isOwner = try await owns()
    while let page = try await database.changes(after: state.withLock(\.since)) {
      if state.withLock({ $0.epoch != page.epoch }) {
        await reset(to: page.epoch)
        continue
      }
      guard !page.documents.isEmpty else {
        if isShared, isOwner, database.name == .remotes { try await publish() }
        return
      }
      for document in page.documents {
        try await take(document, isOwner: isOwner)
        state.withLock { $0.since = document.sequence }
      }
    }
    await reset(to: nil)
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
    let ended = state.withLock { state in
      defer { (state.since, state.epoch, state.documents) = (0, epoch, [:]) }
      return state.documents.values.filter { $0.note == nil }.compactMap(\.job)
    }
    for job in ended { await jobs.end(job) }
  }

  private func take(_ stored: Document, isOwner: Bool) async throws {
    let id = stored.id.text
    if let known = state.withLock({ $0.documents[id] }), known.note == nil, let job = known.job {
      await jobs.end(job)
    }
    guard !stored.isDeleted, !stored.id.isDesign else {
      state.withLock { $0.documents[id] = nil }
      return
    }
    let body = try ParsedJSON(stored.body, limits: .stored).root
    var document = ReplicatorDocument(stored, body)
    if isOwner, document.note == nil {
      do { document.job = try await begin(document, body) } catch let error as ServiceError
        where error.code == .badRequest || error.code == .notImplemented
      {
        try await note("failed", ["_replication_state_reason": .string(error.reason)], document)
      }
    }
    state.withLock { $0.documents[id] = document }
  }

  /// Begins a replication.
  /// - Returns: its id.
  /// - Throws: 400 and 501 for a document that is wrong.
  private func begin(_ document: ReplicatorDocument, _ body: JSONNode) async throws -> String {
    let request = try ReplicationRequest(
      try await seal.opened(body), own: try own(document, body))
    try Self.checkContext(body["user_ctx"], request)
    guard let server = try await server() else {
      throw ServiceError(.unavailable, "The server has no id yet")
    }
    let id = request.id(on: server)
    let reference = ReplicationJob.Reference(database: database.name.text, id: document.id.text)
    let beginning = jobs.begin(request, on: server, of: reference) { [weak self] job in
      await self?.complete(document, job)
    }
    guard case .taken(let other) = beginning else { return id }
    throw ServiceError.badRequest(
      "Replication `\(id)` specified by document `\(document.id.text)` already started, triggered by "
        + (other.map { "document `\($0.id)` from db `\($0.database)`" } ?? "`_replicate`"))
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
  private static func checkContext(
    _ context: JSONNode?, _ request: ReplicationRequest
  ) throws {
    guard let context, !context.isNull, request.isLocal else { return }
    let roles = context["roles"]?.elements.compactMap(\.string) ?? []
    guard !roles.contains("_admin") else { return }
    throw ServiceError.badRequest("`user_ctx` without the role `_admin` is not offered here")
  }

  private func complete(
    _ document: ReplicatorDocument, _ job: ReplicationJob
  ) async {
    let statistics = database.name == .remotes ? job.plainCounts : job.info
    var pause = ReplicationJobs.pauses.lowerBound
    while !Task.isCancelled {
      let members: JSONObject = [
        "_replication_id": .string(job.id), "_replication_stats": .object(statistics),
      ]
      if (try? await note("completed", members, document)) != nil { return }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, ReplicationJobs.pauses.upperBound)
    }
  }

  private func note(
    _ name: String, _ members: JSONObject, _ document: ReplicatorDocument
  ) async throws {
    var noted: JSONObject = [
      "_replication_state": .string(name), "_replication_state_time": .string(now().rfc3339),
    ]
    for (name, value) in members.members { noted.append(name, value) }
    try await database.note(noted, in: document.id, document.revision)
    noteChange()
  }

  /// How far a document's replication has come, for the person whose it is.
  /// - Parameter stored: the document as it is now, which this server may not have read yet.
  func progress(of id: String, _ stored: JSONObject) async throws -> JSONObject {
    let known = state.withLock { $0.documents[id] }
    if let job = known?.job.flatMap({ jobs.job($0) }), known?.note == nil {
      return job.plainProgress
    }
    guard let noted = stored["_replication_state"]?.string else {
      return try await database.published(id) ?? ["state": "initializing"]
    }
    var progress: JSONObject = ["state": .string(noted)]
    if let time = stored["_replication_state_time"] { progress.append("updated", time) }
    if let reason = stored["_replication_state_reason"] {
      progress.append("error", "It can't be done as it is set.")
      progress.append("reason", reason)
    }
    for name in ["done", "total", "refused", "bytes"] {
      if let count = stored["_replication_stats"]?[name] { progress.append(name, count) }
    }
    return progress
  }

  /// Lets the servers that share the database know how far the replications have come that run here.
  private func publish() async throws {
    let (documents, earlier) = state.withLock { ($0.documents, $0.published) }
    var present: [String: JSONObject] = [:]
    for (id, document) in documents where document.note == nil {
      guard let job = document.job.flatMap({ jobs.job($0) }) else { continue }
      present[id] = job.plainProgress
    }
    var changed: [String: JSONObject?] = [:]
    for (id, progress) in present where progress != earlier[id] { changed[id] = progress }
    for id in earlier.keys where present[id] == nil { changed[id] = .some(nil) }
    guard !changed.isEmpty else { return }
    try await database.publish(changed)
    state.withLock { $0.published = present }
  }

  /// The elements of `_scheduler/docs`, ordered by id.
  package var scheduled: [JSONObject] {
    state.withLock { Array($0.documents.values) }
      .sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }.map(element)
  }

  /// One of them.
  package func scheduled(_ id: String) -> JSONObject? {
    state.withLock { $0.documents[id] }.map(element)
  }

  private func element(_ document: ReplicatorDocument) -> JSONObject {
    document.scheduled(in: database.name.text, document.job.flatMap { jobs.job($0) })
  }
}
