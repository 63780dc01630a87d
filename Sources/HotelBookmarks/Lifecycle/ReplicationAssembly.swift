import Accounts
import Documents
import HTTPAPI
import IPAddresses
import Logging
import Replicator
import Scheduling
import ServiceLifecycle
import Stores

/// The replications that this server runs.
///
/// Their requests to this server's own databases come over a socket in the data directory, so that they have the checks,
/// the limits and the costs of any other client of `/couch`.
struct ReplicationAssembly: Sendable {
  let jobs: ReplicationJobs
  fileprivate let documents: ReplicatorDocuments
  /// The replications that people have set for their own stores.
  fileprivate let personal: ReplicatorDocuments
  private let remotes: PersonRemotes
  private let seal: CredentialSeal
  /// The path of the socket.
  fileprivate let socket: String

  /// - Parameter isShared: whether several servers use the stores.
  /// - Parameter token: makes a token of a person.
  /// - Parameter work: makes the work of a person's remote.
  init(
    _ settings: Settings, _ stores: DatabaseManager, isShared: Bool,
    token: @escaping PeerClients.TokenMaker, work: @escaping PeerClients.WorkMaker,
    now: @escaping @Sendable () -> Timestamp
  ) {
    socket = DataFiles.replications(in: settings.data)
    let networks = settings.replicationNetworks
    jobs = ReplicationJobs(
      PeerClients(
        socket: ControlSocket.reachable(socket),
        addresses: networks.isEmpty ? .publicOnly : AddressRule(within: networks),
        token: token, work: work),
      publishes: isShared, now: now)
    let secrets = SharedSecrets(stores: stores)
    seal = CredentialSeal { try await secrets.replicationKey() }
    let (jobs, seal) = (self.jobs, self.seal)
    func documents(_ database: ReplicatorDatabase) -> ReplicatorDocuments {
      ReplicatorDocuments(
        database, jobs, seal, isShared: isShared, server: { try await stores.serverID() }, now: now)
    }
    self.documents = documents(ReplicatorDatabase(.replicator, in: stores))
    let own = ReplicatorDatabase(.remotes, in: stores)
    personal = documents(own)
    remotes = PersonRemotes(own, personal, seal)
  }

  func report(to metrics: PrometheusRegistry) {
    metrics.collect { [jobs] in
      let counts = jobs.counts
      return [
        PrometheusSample("replications_running", .gauge, Double(jobs.jobs.count)),
        PrometheusSample("replications_started_total", .counter, Double(counts.started)),
        PrometheusSample("replication_failures_total", .counter, Double(counts.failed)),
        PrometheusSample("replication_docs_written_total", .counter, Double(counts.written)),
        PrometheusSample("replication_docs_refused_total", .counter, Double(counts.refused)),
      ]
    }
  }
}

extension ReplicationAssembly: Replications {
  func replicate(
    _ body: JSONNode, on server: String, by user: String?
  ) async throws -> ReplicationReply {
    switch try jobs.replicate(body, on: server, by: user) {
    case .absent: return .absent
    case .cancelled(let id, let task):
      // It needs seats itself to note how far it has come.
      _ = await Work.waiting { await task.value }
      return .cancelled(id)
    case .continuous(let id): return .continuous(id)
    case .once(_, let task):
      return .once { await task.value.mapError { .init(error: $0.error, reason: $0.reason) } }
    }
  }

  var activeTasks: [JSONObject] { jobs.jobs.compactMap(\.activeTask) }
  var scheduledJobs: [JSONObject] { jobs.jobs.map(\.scheduled) }
  func scheduledJob(_ id: String) -> JSONObject? { jobs.job(id)?.scheduled }

  var scheduledDocuments: [JSONObject] { documents.scheduled }
  func scheduledDocument(_ id: String) async throws -> JSONObject? {
    try await documents.scheduled(id)
  }
  func checked(_ document: JSONNode, by user: String?) throws -> JSONNode {
    try ReplicationRequest.checked(document, by: user)
  }
  func sealed(_ document: JSONNode) async throws -> JSONNode { try await seal.sealed(document) }
  func refusal(of document: JSONNode) -> ServiceError? {
    CredentialSeal.hasCredentials(document) ? CredentialSeal.refusal : nil
  }
  func noteDocuments() { documents.noteChange() }

  func setRemote(_ body: JSONNode, of person: AccountID, named name: String) async throws {
    try await remotes.set(body, of: person, named: name)
  }
  func removeRemote(of person: AccountID) async throws -> Bool {
    try await remotes.remove(of: person)
  }
  func startRemote(of person: AccountID) async throws -> Bool {
    try await remotes.start(of: person)
  }
  func remoteStatus(of person: AccountID) async throws -> JSONObject? {
    try await remotes.status(of: person)
  }

  var limits: [(name: String, value: Int, unit: String)] { ReplicationJobs.limits }
}

/// Serves the replications' requests to this server's databases, and ends the replications when the server stops.
struct ReplicationService: Service {
  private let jobs: ReplicationJobs
  private let documents: [ReplicatorDocuments]
  private let socket: SocketService?
  private let logger: Logger

  init(_ assembly: ReplicationAssembly, _ router: RequestRouter, _ logger: Logger) {
    (jobs, documents) = (assembly.jobs, [assembly.documents, assembly.personal])
    self.logger = logger
    socket = SocketService(
      at: assembly.socket, connections: ReplicationJobs.connections, router.forReplications(),
      failing: "databases of this server can't be replicated: the socket can't be made", logger)
  }

  func run() async throws {
    // Detached, so that it does not end when the server is told to stop: over it the replications note how far they are.
    let serving = Task.detached { [socket] in try await socket?.run() }
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        for documents in documents { group.addTask { await documents.run(report: report) } }
      }
    }
    await jobs.stop()
    serving.cancel()
    _ = try await serving.value
  }

  private func report(_ failure: ReplicatorDocuments.Failure) {
    let change = failure.change > 0 ? ", change \(failure.change)" : ""
    logger.error(
      "a replication can't be begun and will be tried again",
      metadata: ["detail": "\(failure.database)\(change): \(StartFailure.line(failure.error))"])
  }
}
